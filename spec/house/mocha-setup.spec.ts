/**
 * The setup of mocha. Under CI a pending spec fails the run, so that a machine without a program that the specs need cannot be green. A file
 * that leaves a server behind fails. A file that asks for it runs while no other file does.
 */

import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FILES_ALONE } from "../support/alone.js";
import { ROOT, sourcesBelow, textOf } from "../support/sources.js";

const MOCHA = join(ROOT, "node_modules/mocha/bin/mocha.js");
const SUPPORT = join(ROOT, "dist/spec/support");

const inParallel = (jobs: number): readonly string[] => ["--parallel", "--jobs", String(jobs)];

const SPECS = 'it("passes", () => {});\nit("is skipped", function () { this.skip(); });\n';
const LEAVES_A_SERVER = 'it("passes", () => { require("node:net").createServer().listen(0, "127.0.0.1"); });\n';

/** Notes its begin and its end, and waits between them. */
const beside = (name: string, hook: string, waits: string) => `
const { appendFileSync, existsSync, readFileSync } = require("node:fs");
const { setTimeout: pause } = require("node:timers/promises");
const note = (what) => appendFileSync(process.env.NOTES, what + " ${name}\\n");
describe("${name}", () => {
  ${hook}
  it("runs", async () => { note("begin"); ${waits} note("end"); }).timeout(60_000);
});
`;

/** Long enough for another file to begin, if it may. */
const A_WHILE = "await pause(300);";
/**
 * Until two files run, because a busy machine starts their processes one long after the other; or until another file asks to run alone,
 * or all have begun.
 */
const FOR_ANOTHER = `
  const count = (what) => readFileSync(process.env.NOTES, "utf8").split(new RegExp(what + " \\\\w\\n")).length - 1;
  const isAsked = () => existsSync(process.env.SPECS_THAT_RUN + "/alone");
  while (count("begin") - count("end") < 2 && count("begin") < 4 && !isAsked()) await pause(5);
`;

describe("the setup of mocha", function () {
  this.timeout(180_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "setup-"));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A mocha of its own, with the setup of the project and nothing else of its configuration. */
  function run(files: Readonly<Record<string, string>>, flags: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    const paths = Object.entries(files).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const { CI: _ci, npm_lifecycle_event: _event, ...inherited } = process.env;
    const env = { ...inherited, MOCHA_COUNTS: join(folder, "counts"), ...environment };
    const options = ["--no-config", "--require", join(SUPPORT, "setup.js"), ...flags];
    return spawnSync(process.execPath, [MOCHA, ...options, ...paths], { cwd: ROOT, encoding: "utf8", env });
  }

  it("fails a run with a pending spec under CI=true, and names the spec", () => {
    const { status, stdout } = run({ "pending.cjs": SPECS }, [], { CI: "true" });

    expect(status).to.equal(1);
    expect(stdout).to.match(/1 passing[^]*1 failing[^]*is skipped:/);
    expect(readFileSync(join(folder, "counts"), "utf8")).to.match(/^1 1 \d\n$/);
  });

  it("only reports a pending spec elsewhere, and counts the specs of all files", () => {
    const { status, stdout } = run({ "one.cjs": SPECS, "two.cjs": 'it("passes", () => {});' }, []);

    expect(status).to.equal(0);
    expect(stdout).to.match(/2 passing[^]*1 pending/);
    expect(readFileSync(join(folder, "counts"), "utf8")).to.equal("2 0 1\n");
  });

  it("fails a pending spec under CI=true in parallel too, and a file that leaves a server behind", () => {
    const { status, stdout } = run({ "pending.cjs": SPECS, "server.cjs": LEAVES_A_SERVER }, inParallel(2), {
      CI: "true",
      SPECS_CLOSE_WITHIN_MS: "200",
    });

    // The number of failures.
    expect(status).to.equal(2);
    expect(stdout).to.match(/2 passing[^]*2 failing/);
    expect(stdout).to.contain("is skipped:").and.contain("the file leaves behind: TCPServerWrap");
    expect(readFileSync(join(folder, "counts"), "utf8")).to.match(/^2 2 \d\n$/);
  });

  it("fails only the files that leave a server behind, not those after them in the same process", () => {
    const over = join(folder, "over");
    const files = {
      "server.cjs": LEAVES_A_SERVER,
      // It keeps the other process until the files after the first one have run.
      "other.cjs": `it("waits", async () => {
        const { existsSync } = require("node:fs");
        while (!existsSync(${JSON.stringify(over)})) await new Promise((resolve) => setTimeout(resolve, 5));
      }).timeout(60_000);`,
      "after.cjs": 'it("passes", () => {});',
      "another-server.cjs": LEAVES_A_SERVER,
      "last.cjs": `it("passes", () => require("node:fs").writeFileSync(${JSON.stringify(over)}, ""));`,
    };

    const { status, stdout } = run(files, inParallel(2), { SPECS_CLOSE_WITHIN_MS: "200" });

    expect(status).to.equal(2);
    expect(stdout).to.match(/5 passing[^]*2 failing/);
    expect(stdout.match(/the file leaves behind: TCPServerWrap$/gm)).to.have.length(2);
  });

  it("fails a run with a file that ends its process", () => {
    const files = { "ends.cjs": 'it("ends", () => process.exit(0));', "one.cjs": SPECS };

    expect(run(files, inParallel(2)).status).to.equal(1);
  });

  it("lets a file that asks for it run alone, the others at the same time, and counts the specs of all", () => {
    const notes = join(folder, "notes");
    const setup = `before(async function () { await (await import("${SUPPORT}/alone.js")).alone().call(this); });`;
    const files = {
      "quiet.cjs": beside("quiet", setup, A_WHILE),
      ...Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}.cjs`, beside(name, "", FOR_ANOTHER)])),
      "skipped.cjs": SPECS,
    };

    const { status, stdout } = run(files, inParallel(3), { NOTES: notes });

    const lines = readFileSync(notes, "utf8").split("\n");
    expect(status).to.equal(0);
    expect(stdout).to.match(/6 passing[^]*1 pending/);
    expect(readFileSync(join(folder, "counts"), "utf8")).to.equal("6 0 1\n");
    expect(lines.indexOf("end quiet") - lines.indexOf("begin quiet")).to.equal(1);
    // Two begins in a row: two files at the same time.
    expect(lines.join("\n")).to.match(/begin \w\nbegin \w/);
  });

  it("lets several files that ask for it run in one process", () => {
    const setup = `before(async function () { await (await import("${SUPPORT}/alone.js")).alone().call(this); });`;
    const files = { "one.cjs": beside("one", setup, ""), "two.cjs": beside("two", setup, "") };

    expect(run(files, [], { NOTES: join(folder, "notes") }).stdout).to.contain("2 passing");
  });

  it("has every spec of the repository among its files, once, and first those that run alone, so that none waits for a long one", async () => {
    const { spec } = JSON.parse(textOf(".mocharc.json") ?? "") as { readonly spec: readonly string[] };
    const { lookupFiles } = (await import(join(ROOT, "node_modules/mocha/lib/cli/lookup-files.js"))) as {
      readonly lookupFiles: (pattern: string) => readonly string[];
    };
    const files = spec.flatMap((pattern) => lookupFiles(join(ROOT, pattern)));
    const specs = sourcesBelow("spec").filter(({ path }) => path.endsWith(".spec.ts"));
    const quiet = specs.filter(({ code }) => /\(alone\(\)\)/.test(code)).map(({ path }) => compiled(path));

    expect(files.toSorted()).to.deep.equal(specs.map(({ path }) => compiled(path)).toSorted());
    expect(files.slice(0, quiet.length)).to.have.members(quiet);
    expect(FILES_ALONE.map((name) => join(ROOT, "dist/spec", name))).to.have.members(quiet);
  });
});

function compiled(path: string): string {
  return join(ROOT, "dist", path.replace(/\.ts$/, ".js"));
}
