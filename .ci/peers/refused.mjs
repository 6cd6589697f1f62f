/**
 * Imports an entry point beside a package that is too old for it, and expects the error that says so.
 * Usage: node refused.mjs <entry point> <package> <version found>
 */
import assert from "node:assert/strict";

const [entry, name, version] = process.argv.slice(2);

await assert.rejects(import(entry), ({ code, message }) => {
  console.log(message);
  assert.equal(code, "E_PEER_VERSION");
  assert.ok(message.startsWith(`${entry} needs ${name} `));
  assert.ok(message.includes(`installed is ${name} ${version}: npm install `));
  return true;
});
