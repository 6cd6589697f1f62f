/** Package managers: each installs the packed package, two of them so that a package sees only the packages that it asks for, and runs the compiled program. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProject, writeManifest } from "./project.mjs";
import { served } from "./served.mjs";
import { shownVersion } from "./table.mjs";
import { binOf, execute, node } from "./tools.mjs";

const MANAGERS = [
  { name: "npm", version: "that of Node", install: npm, flags: [] },
  { name: "pnpm, strict", package: "pnpm", install: pnpm, flags: [] },
  {
    name: "Yarn, Plug'n'Play",
    package: "@yarnpkg/cli-dist",
    install: yarn,
    flags: ["--require", "./.pnp.cjs", "--no-warnings", "--experimental-loader", "./.pnp.loader.mjs"],
  },
];

/** @param parent where npm has installed the package */
export async function managerRows(work, parent, tarball, resultOf) {
  const compiled = createProject(parent, "managed", "inject");
  await node(compiled, binOf("typescript-7", "tsc"), "-p", ".");
  const rows = [];
  for (const manager of MANAGERS) {
    const folder = join(work, `by-${manager.name.replaceAll(/\W+/g, "-")}`);
    mkdirSync(folder);
    writeManifest(folder, tarball);
    cpSync(join(compiled, "out/main.js"), join(folder, "main.js"));
    cpSync(join(compiled, "samples"), join(folder, "samples"), { recursive: true });
    const result = await resultOf(async () => {
      await manager.install(folder);
      await served(folder, process.execPath, ...manager.flags, "main.js");
    });
    rows.push({
      "Package manager": manager.name,
      Version: manager.version ?? shownVersion(manager.package),
      Result: result,
    });
  }
  return rows;
}

export async function npm(folder) {
  await execute("npm", ["install", "--silent", "--omit=optional", "--omit=peer"], { cwd: folder });
}

async function pnpm(folder) {
  writeFileSync(join(folder, ".npmrc"), "hoist=false\nstrict-peer-dependencies=false\n");
  await node(folder, binOf("pnpm"), "install", "--no-frozen-lockfile", "--ignore-scripts");
}

/** Yarn does not read the settings of npm. */
async function yarn(folder) {
  const { stdout } = await execute("npm", ["config", "get", "registry"], { cwd: folder });
  const settings = {
    YARN_NPM_REGISTRY_SERVER: stdout.trim().replace(/\/$/, ""),
    YARN_ENABLE_TELEMETRY: "0",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "0",
    YARN_ENABLE_SCRIPTS: "0",
    YARN_ENABLE_GLOBAL_CACHE: "0",
  };
  writeFileSync(join(folder, "yarn.lock"), "");
  await execute(process.execPath, [binOf("@yarnpkg/cli-dist", "yarn"), "install"], { cwd: folder, env: settings });
}
