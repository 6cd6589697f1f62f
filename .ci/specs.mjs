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
  const failing = [...first.files].filter(([, { failed }]) => failed > 0).map(([file]) => file);
  const isRepeated = first.code !== 0 && failing.length > 0 && failing.length <= MAX_FILES && !failing.includes("");
  const failed = isRepeated ? failing.filter((file) => !passesAlone(file, first.files)) : failing;
  const isGreen = first.code === 0 || (isRepeated && failed.length === 0);
  report([...first.files.values()]);
  if (first.code !== 0 && !isRepeated) say(reasonOf(failing));
  if (isRepeated) say(isGreen ? `passed alone: ${failing.join(", ")}` : `failed alone too: ${failed.join(", ")}`);
  return isGreen ? 0 : 1;
}

function reasonOf(files) {
  if (files.length > MAX_FILES) return `${files.length} files failed, and no more than ${MAX_FILES} run once more`;
  return "the run broke off, or a failure belongs to no file: nothing runs once more";
}

/** Puts the counts of the second run in place of the first; a second run that breaks off has none. */
function passesAlone(file, files) {
  say(`${file} failed, and runs once more alone`);
  const { code, files: second } = run("alone", [process.execPath, ...ALONE, file]);
  const counts = second.get(file);
  if (counts !== undefined && (code === 0 || counts.failed > 0)) files.set(file, counts);
  return code === 0;
}

/** The exit code, and the counts by file. A run that broke off has no counts and failed, whatever its exit code is. */
function run(name, [program, ...args]) {
  const results = join(folder, name);
  rmSync(results, { force: true });
  const { MOCHA_COUNTS: _counts, ...env } = process.env;
  const { status } = spawnSync(program, args, { stdio: "inherit", env: { ...env, MOCHA_RESULTS: results } });
  const files = new Map(existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : []);
  return { code: files.size === 0 ? 1 : (status ?? 1), files };
}

function report(files) {
  const counts = process.env["MOCHA_COUNTS"];
  if (counts === undefined || files.length === 0) return;
  const sums = ["passed", "failed", "pending"].map((kind) => files.reduce((sum, file) => sum + file[kind], 0));
  appendFileSync(counts, `${sums.join(" ")}\n`);
}

function say(text) {
  process.stdout.write(`\n== ${text}\n\n`);
}
