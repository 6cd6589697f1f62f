/**
 * Without optional packages every entry point of the installed package either loads, or says on import which package to install.
 * Usage: node entries.mjs <folder with the package installed>
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.argv[2], "app.mjs"));
const name = "@stagecraft/framework";
const { exports, peerDependencies = {} } = require(`${name}/package.json`);

for (const entry of Object.keys(exports).filter((path) => path !== "./package.json")) {
  const specifier = name + entry.slice(1);
  try {
    await import(pathToFileURL(require.resolve(specifier)).href);
    console.log(`${specifier} loads`);
  } catch (error) {
    const missing = Object.keys(peerDependencies).filter((peer) => error.message.includes(peer));
    if (missing.length === 0 || !/install/i.test(error.message)) throw error;
    console.log(`${specifier} asks for ${missing.join(", ")}`);
  }
}
