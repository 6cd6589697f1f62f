/**
 * `npm run neighbours`: runs each package beside bare Koa and beside the framework with the same program, compares what the client sees,
 * and compares the table of the results with the guide's. Not part of the test run.
 * `npm run neighbours -- --write` writes the table. `--only <package>` prints the rows of that package alone.
 */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PAGE = fileURLToPath(new URL("../../../docs/guide/neighbours.md", import.meta.url));
const HOSTS = ["koa", "framework"];

const { values: options } = parseArgs({ options: { write: { type: "boolean" }, only: { type: "string" } } });
install();
// They import the installed packages.
const [{ PROGRAMS }, { result }, { tableOf, withTable }] = await Promise.all(
  ["./programs.mjs", "./differences.mjs", "./table.mjs"].map((file) => import(file)),
);
const { only } = options;
const chosen = PROGRAMS.filter((program) => only === undefined || program.package === only);
const packages = tableOf(await runAll(chosen));
if (only !== undefined) console.log(packages);
else await compareOrWrite(packages);

/** The packages are installed apart from everything else, by their own lock file, at first use and when the lock file has changed. */
function install() {
  const changed = (file) => statSync(HERE + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changed("node_modules/.package-lock.json") > changed("package-lock.json")) return;
  console.error("installing the neighbours");
  execFileSync("npm", ["ci", "--ignore-scripts", "--prefix", HERE], { stdio: ["ignore", 2, 2] });
}

async function runAll(programs) {
  const shared = programs.filter(({ alone }) => !alone);
  const groups = [shared, ...programs.filter(({ alone }) => alone).map((program) => [program])];
  const seen = { koa: {}, framework: {} };
  for (const group of groups.filter(({ length }) => length > 0)) {
    const both = await Promise.all(HOSTS.map((host) => runOn(host, group)));
    HOSTS.forEach((host, index) => Object.assign(seen[host], both[index]));
  }
  return programs.map((program) => [program, result(program, seen.koa[program.name], seen.framework[program.name])]);
}

async function runOn(host, programs) {
  const names = programs.map(({ name }) => name);
  // A package that reads NODE_ENV must not see that of the machine.
  const env = { ...process.env, NODE_ENV: "development" };
  const settings = { cwd: HERE, env, timeout: 120_000, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(process.execPath, ["child.mjs", host, ...names], settings);
  return JSON.parse(stdout);
}

async function compareOrWrite(table) {
  const { format, resolveConfig } = await import("prettier");
  const before = readFileSync(PAGE, "utf8");
  const after = await format(withTable(before, table), { ...(await resolveConfig(PAGE)), filepath: PAGE });
  if (options.write) writeFileSync(PAGE, after);
  else if (after !== before) {
    // A longer cell changes the width of every row.
    const [old, now] = [before, after].map((text) => text.replaceAll(/ {2,}|-{3,}/g, " ").split("\n"));
    for (const line of old.filter((each) => !now.includes(each))) console.error(`- ${line}`);
    for (const line of now.filter((each) => !old.includes(each))) console.error(`+ ${line}`);
    console.error("the table of docs/guide/neighbours.md differs from this run: npm run neighbours -- --write");
    process.exitCode = 1;
    return;
  }
  console.log(`${chosen.length} programs, each on Koa and on the framework: the table is that of the guide`);
}
