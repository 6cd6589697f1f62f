/**
 * `npm run reach`: runs samples/notes under each compiler, runner, bundler and package manager, in each style of decorators and injection, with the packed
 * package, and compares the tables of the results with the guide's. It also compares how each version of TypeScript refuses what does not fit
 * a contract. Not part of the test run.
 * `npm run reach -- --write` writes the tables. `--only <tool>` prints the rows of that tool, `--short` runs some of the cells and compares their rows.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bareRows } from "./bare.mjs";
import { CELLS } from "./cells.mjs";
import { managerRows, npm } from "./managers.mjs";
import { checkPackage } from "./packaging.mjs";
import { createProject, createWork, packed, STYLES, writeManifest } from "./project.mjs";
import { differentRefusals } from "./refusals.mjs";
import { runtimeRows } from "./runtimes.mjs";
import { differencesOf, rowOf, tableOf, withTable } from "./table.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PAGE = fileURLToPath(new URL("../../../docs/guide/compilers.md", import.meta.url));

const flag = { type: "boolean" };
const { values: options } = parseArgs({ options: { write: flag, short: flag, only: { type: "string" } } });
const chosen = CELLS.filter(({ tool, short }) =>
  options.only ? tool.startsWith(options.only) : short || !options.short || options.write,
);

install();
const work = createWork();
try {
  const tarball = await packed(work);
  const parent = await installed(tarball);
  const compilers = await compilerRows(parent);
  if (options.only !== undefined) console.log(tableOf(compilers));
  else {
    const runtimes = await runtimeRows(parent, resultOf);
    await compareRefusals();
    await compareOrWrite({ compilers, runtimes, ...(options.short ? {} : await otherRows(parent, tarball)) });
  }
} finally {
  rmSync(work, { recursive: true });
}

/** The tools are installed apart from everything else, by their own lock file, at first use and when the lock file has changed. */
function install() {
  const changed = (file) => statSync(HERE + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changed("node_modules/.package-lock.json") > changed("package-lock.json")) return;
  console.error("installing the compilers and runners");
  execFileSync("npm", ["ci", "--ignore-scripts", "--prefix", HERE], { stdio: ["ignore", 2, 2] });
}

async function installed(tarball) {
  const parent = join(work, "npm");
  mkdirSync(parent);
  writeManifest(parent, tarball);
  await npm(parent);
  return parent;
}

async function otherRows(parent, tarball) {
  await checkPackage(parent, tarball);
  return {
    bare: await bareRows(parent, resultOf),
    managers: await managerRows(work, parent, tarball, resultOf),
  };
}

async function compilerRows(parent) {
  const rows = [];
  for (const [index, cell] of chosen.entries()) {
    const results = {};
    for (const style of Object.keys(STYLES)) {
      const folder = createProject(parent, `${index}-${style}`, style, cell.project);
      results[style] = await resultOf(() => cell.start(folder, style));
    }
    rows.push(rowOf(cell, results));
    console.error(`${cell.tool}: ${Object.values(results).join("; ")}`);
  }
  return rows;
}

/** "works", or the code of the refusal. A tool that leaves decorators in its output ends with a `SyntaxError`. Other failures, and all of a program that has started, are printed. */
async function resultOf(start) {
  try {
    await start();
    return "works";
  } catch ({ message, started = false, stdout = "", stderr = "" }) {
    const output = `${message}\n${stdout}\n${stderr}`;
    const code = /\bE_[A-Z_]+\b|\bSyntaxError\b/.exec(output)?.[0];
    if (code !== undefined && !started) return `\`${code}\``;
    console.error(output);
    return "fails";
  }
}

async function compareRefusals() {
  const differences = await differentRefusals();
  if (differences.length === 0) return;
  for (const line of differences) console.error(line);
  console.error(
    "a compiler ends its refusal of a contract with another line than spec/support/contract-refusals.ts expects",
  );
  process.exitCode = 1;
}

async function compareOrWrite(tables) {
  const { format, resolveConfig } = await import("prettier");
  const before = readFileSync(PAGE, "utf8");
  const filled = Object.entries(tables).reduce((page, [name, rows]) => withTable(page, name, tableOf(rows)), before);
  const after = await format(filled, { ...(await resolveConfig(PAGE)), filepath: PAGE });
  const differences = differencesOf(before, after, { partly: options.short });
  if (options.write) writeFileSync(PAGE, after);
  else if (differences.length > 0) {
    for (const line of differences) console.error(line);
    console.error("a table of docs/guide/compilers.md differs from this run: npm run reach -- --write");
    process.exitCode = 1;
    return;
  }
  console.log(`${chosen.length} tools: the tables are those of the guide`);
}
