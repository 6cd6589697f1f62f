/**
 * `npm run judges`: programs that others wrote, run on the OpenAPI documents of the samples. Two linters find nothing, four generators of
 * clients write code that TypeScript compiles, and one of the clients talks to the sample. Installs the programs in this folder, by their own
 * lock file. Not part of the test run.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const DIST = new URL("../../../../dist/", import.meta.url);
const TSC = `${ROOT}node_modules/typescript/bin/tsc`;

/** Neither reports uses, nor asks for newer versions. */
const QUIET = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true", NO_COLOR: "1" };

const CLIENTS = [
  ["openapi-typescript", "types", ["documents/conduit.json", "-o", "generated/types/schema.d.ts"]],
  ["openapi-ts", "hey", ["-i", "./documents/conduit.json", "-o", "generated/hey"]],
  ["orval", "orval", ["--input", "documents/conduit.json", "--output", "generated/orval/api.ts", "--client", "fetch"]],
  ["kubb", "kubb", ["generate", "--config", "kubb.config.mjs"]],
];

install();
for (const folder of ["documents", "generated"]) {
  rmSync(HERE + folder, { recursive: true, force: true });
  mkdirSync(HERE + folder);
}
const { testApp } = await load("lib/entries/testing.js");
const samples = { conduit: await testApp(await createConduit()), links: await testApp(await createLinks()) };
try {
  for (const [name, { url }] of Object.entries(samples)) await lint(name, url);
  await generate(samples.conduit.url);
} finally {
  for (const app of Object.values(samples)) await app.stop();
}

async function lint(name, url) {
  const file = `documents/${name}.json`;
  const document = await (await fetch(`${url}/openapi.json`)).json();
  writeFileSync(HERE + file, JSON.stringify(document, null, 2));
  const linted = await run("redocly", ["lint", file, "--config", "redocly.yaml", "--format", "json"]);
  const { totals } = JSON.parse(linted);
  report(`redocly on samples/${name}`, totals.errors + totals.warnings === 0, linted);
  const findings = await run("spectral", ["lint", file, "--fail-severity", "hint", "--ruleset", "spectral.yaml"]);
  report(`spectral on samples/${name}`, findings.includes("No results"), findings);
}

async function generate(url) {
  for (const [name, folder, options] of CLIENTS) {
    const output = await run(name, options);
    report(name, existsSync(`${HERE}generated/${folder}`), output);
  }
  const compiled = await execute(process.execPath, [TSC, "-p", HERE]);
  report("TypeScript compiles the clients", compiled === "", compiled);
  const driven = await execute(process.execPath, ["--import", "tsx", `${HERE}drive.ts`, url]);
  report("a client talks to the sample", /^ada wrote a-title/.test(driven), driven);
}

function report(name, isRight, output) {
  console.log(`${isRight ? "ok  " : "FAIL"} ${name}`);
  if (isRight) return;
  console.error(output);
  process.exitCode = 1;
}

/** A program of this folder; its output also where it fails. */
function run(name, options) {
  return execute(`${HERE}node_modules/.bin/${name}`, options);
}

async function execute(file, options) {
  const settings = { cwd: HERE, env: { ...process.env, ...QUIET }, timeout: 120_000, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(file, options, settings).catch((error) => ({
    stdout: `${error.stdout}${error.stderr}`,
  }));
  return stdout;
}

/** The packages are installed apart from everything else, at first use and when the lock file has changed. */
function install() {
  const changed = (file) => statSync(HERE + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changed("node_modules/.package-lock.json") > changed("package-lock.json")) return;
  console.error("installing the judges");
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", HERE], {
    stdio: ["ignore", 2, 2],
  });
}

async function createLinks() {
  const [{ linksApplication }, { settingsFrom }] = await Promise.all(
    ["application.js", "settings.js"].map((file) => load(`samples/links/${file}`)),
  );
  return linksApplication(settingsFrom({}));
}

async function createConduit() {
  const [{ conduitApplication }, { fileDatabase }, { settingsFrom }] = await Promise.all(
    ["application.js", "database.js", "settings.js"].map((file) => load(`samples/conduit/${file}`)),
  );
  return conduitApplication(settingsFrom({ TOKEN_KEY: "5e".repeat(64) }), fileDatabase(":memory:"));
}

function load(file) {
  return import(new URL(file, DIST));
}
