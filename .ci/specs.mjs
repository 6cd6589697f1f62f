#!/usr/bin/env node
/**
 * Runs the specs: `node .ci/specs.mjs npm test`. A file that fails runs once more alone, because a loaded machine can make a sound spec
 * fail. A second failure fails the run, and so do more than three such files, or a failure that belongs to no file. The counts go to the
 * file that `MOCHA_COUNTS` names, one line a run: `<passed> <failed> <pending>`.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAX_FILES = 3;
const ALONE = [
  "node_modules/mocha/bin/mocha.js",
  "--no-config",
  "--forbid-only",
  "--enable-source-maps",
  ...["--timeout", "60000"],
  ...["--require", "dist/spec/support/setup.js"],
];

const folder = mkdtempSync(join(tmpdir(), "specs-"));
try {
  process.exitCode = runAll(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function runAll(command) {
  const first = run("first", command);
  const files = [...new Set(first.failures)];
  const isRepeated = first.code !== 0 && isComplete(first) && files.length > 0 && files.length <= MAX_FILES;
  const failed = isRepeated ? files.filter((file) => !passesAlone(file)) : files;
  const isGreen = first.code === 0 || (isRepeated && failed.length === 0);
  report(first.counts, isGreen);
  if (first.code !== 0 && !isRepeated) say(reasonOf(files));
  if (isRepeated) say(isGreen ? `passed alone: ${files.join(", ")}` : `failed alone too: ${failed.join(", ")}`);
  return isGreen ? 0 : 1;
}

/** Whether the run came to its end, and each failure belongs to a file. */
function isComplete({ counts, failures }) {
  return counts !== undefined && Number(counts.split(" ")[1]) === failures.length && !failures.includes("");
}

function reasonOf(files) {
  if (files.length > MAX_FILES) return `${files.length} files failed, and no more than ${MAX_FILES} run once more`;
  return "the run broke off, or a failure belongs to no file: nothing runs once more";
}

function passesAlone(file) {
  say(`${file} failed, and runs once more alone`);
  return run("alone", [process.execPath, ...ALONE, file]).code === 0;
}

function run(name, [program, ...args]) {
  const [counts, failures] = ["counts", "failures"].map((kind) => join(folder, `${name}-${kind}`));
  const env = { ...process.env, MOCHA_COUNTS: counts, MOCHA_FAILURES: failures };
  const { status } = spawnSync(program, args, { stdio: "inherit", env });
  return { code: status ?? 1, counts: linesOf(counts).at(-1), failures: linesOf(failures) };
}

/** A spec that passed in its second run has passed. */
function report(counts, isGreen) {
  const file = process.env["MOCHA_COUNTS"];
  if (file === undefined || counts === undefined) return;
  const [passed, failed, pending] = counts.split(" ").map(Number);
  appendFileSync(file, isGreen ? `${passed + failed} 0 ${pending}\n` : `${counts}\n`);
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function say(text) {
  process.stdout.write(`\n== ${text}\n\n`);
}
