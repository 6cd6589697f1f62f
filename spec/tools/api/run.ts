/**
 * `npm run api` compares the public API of the build with the checked-in text and fails where they differ; `npm run api -- --write`
 * rewrites the text. A pull request shows the change of the text to its reader.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifest, ROOT, textOf } from "../../support/sources.js";
import { publicApi } from "./public-api.js";

const FILE = "docs/api.txt";
const MAX_LINES = 40;

const { name, exports } = manifest();
const entries = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === "string" ? [] : [[name + entry.slice(1), target.types.replace(/^\.\//, "")] as const],
);

function read(path: string): string {
  const text = textOf(path);
  if (text === undefined) throw new Error(`${path} does not exist: run "npm run build"`);
  return text;
}

/** Lines that only one of the texts has. */
function difference(before: string, after: string): readonly string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const [inOld, inNow] = [new Set(old), new Set(now)];
  const removed = old.filter((line) => !inNow.has(line)).map((line) => `- ${line}`);
  return [...removed, ...now.filter((line) => !inOld.has(line)).map((line) => `+ ${line}`)];
}

const written = textOf(FILE) ?? "";
const built = await publicApi(Object.fromEntries(entries), read);
if (process.argv.includes("--write")) {
  writeFileSync(join(ROOT, FILE), built);
  console.log(`${FILE}: ${built.split("\n").length - 1} lines`);
} else if (written === built) {
  console.log(`the public API is the text of ${FILE}`);
} else {
  const lines = difference(written, built);
  console.error(lines.slice(0, MAX_LINES).join("\n") || "the order of the lines differs");
  if (lines.length > MAX_LINES) console.error(`and ${lines.length - MAX_LINES} more lines`);
  console.error(`\nthe public API differs from ${FILE}; if it is meant, run: npm run api -- --write`);
  process.exitCode = 1;
}
