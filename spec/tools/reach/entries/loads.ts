/** Each entry point loads, or its driver names the optional package that is missing. */
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync("node_modules/@stagecraft/framework/package.json", "utf8"));
const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");
const results = await Promise.all(
  entries.map((entry) =>
    import(`@stagecraft/framework${entry.slice(1)}`).then(
      () => "loads",
      (error) => `${entry} ${error.code}`,
    ),
  ),
);
const refusals = results.filter((result) => result !== "loads");
console.log(`${entries.length - refusals.length} of ${entries.length} entry points load`, refusals);
assert.deepEqual(
  refusals.filter((result) => !result.endsWith("E_PEER_MISSING")),
  [],
);
console.log("works");
