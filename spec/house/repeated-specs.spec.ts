/** `.ci/specs.mjs`: a file of specs that fails runs once more alone, and the output says so. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ROOT } from "../support/sources.js";

const MOCHA = ["node_modules/mocha/bin/mocha.js", "--no-config", "--require", "dist/spec/support/setup.js"];

const SOUND = 'it("passes", () => {});\n';
const WRONG = 'it("passes", () => {}); it("fails", () => { throw new Error("wrong"); });\n';

/** Fails in its first run only. */
const FAILS_ONCE = `
const { existsSync, writeFileSync } = require("node:fs");
it("passes", () => {});
it("fails once", () => {
  const mark = __filename + ".ran";
  if (existsSync(mark)) return;
  writeFileSync(mark, "");
  throw new Error("under load");
});
`;

const FAILS_ONCE_IN_A_HOOK = `describe("hooks", () => {
  it("passes too", () => {});
  ${FAILS_ONCE.replace('it("fails once"', 'before("fails once"')}
});`;

/** As the specs of the project's own setup do. */
const RUNS_MOCHA = `
it("runs mocha", () => {
  const { writeFileSync } = require("node:fs");
  const wrong = __filename + ".wrong.cjs";
  writeFileSync(wrong, ${JSON.stringify(WRONG)});
  const { status } = require("node:child_process").spawnSync(process.execPath, [...${JSON.stringify(MOCHA)}, wrong]);
  if (status !== 1) throw new Error("passed");
});
`;

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly counts: string;
}

describe("the specs of a CI run", function () {
  this.timeout(180_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "repeated-"));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function run(texts: readonly string[], ...flags: readonly string[]): Outcome {
    const paths = texts.map((_text, index) => join(folder, `${index}.cjs`));
    for (const [index, path] of paths.entries()) writeFileSync(path, texts[index] ?? "");
    const { CI: _ci, npm_lifecycle_event: _event, ...inherited } = process.env;
    const counts = join(folder, "counts");
    writeFileSync(counts, "");
    const env = { ...inherited, MOCHA_COUNTS: counts };
    const args = [".ci/specs.mjs", process.execPath, ...MOCHA, ...flags, ...paths];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8", env });
    return { status, stdout, counts: readFileSync(counts, "utf8") };
  }

  for (const [way, flags] of [
    ["in one process", []],
    ["in several processes", ["--parallel", "--jobs", "2"]],
  ] as const) {
    it(`pass where a file passes in its second run, and count as passed, ${way}`, () => {
      const { status, stdout, counts } = run([SOUND, FAILS_ONCE, FAILS_ONCE], ...flags);

      expect(status).to.equal(0);
      expect(stdout).to.match(/== \S+\/1\.cjs failed, and runs once more alone[^]*2 passing/);
      expect(stdout).to.match(/== \S+\/2\.cjs failed, and runs once more alone[^]*2 passing/);
      expect(stdout).to.match(/== passed alone: \S+\/[12]\.cjs, \S+\/[12]\.cjs\n/);
      expect(counts).to.equal("5 0 0\n");
    });

    it(`run a file again that failed in a hook, ${way}`, () => {
      const { status, counts } = run([SOUND, FAILS_ONCE_IN_A_HOOK], ...flags);

      expect([status, counts]).to.deep.equal([0, "3 0 0\n"]);
    });

    it(`fail where a file fails twice, ${way}`, () => {
      const { status, stdout, counts } = run([WRONG, FAILS_ONCE], ...flags);

      expect(status).to.equal(1);
      expect(stdout).to.match(/== failed alone too: \S+\/0\.cjs\n/);
      expect(counts).to.equal("3 1 0\n");
    });

    it(`count only their own failures where a spec runs mocha, ${way}`, () => {
      const { status, counts } = run([RUNS_MOCHA, FAILS_ONCE], ...flags);

      expect([status, counts]).to.deep.equal([0, "3 0 0\n"]);
    });
  }

  it("fail where more than three files fail, and run none of them again", () => {
    const { status, stdout } = run([FAILS_ONCE, FAILS_ONCE, FAILS_ONCE, FAILS_ONCE]);

    expect(status).to.equal(1);
    expect(stdout).to.contain("== 4 files failed, and no more than 3 run once more").and.not.contain("alone");
  });

  for (const code of [0, 1]) {
    it(`fail where the process ends in the middle with exit code ${code}`, () => {
      const { status, stdout } = run([FAILS_ONCE, `it("ends", () => process.exit(${code}));`]);

      expect(status).to.equal(1);
      expect(stdout).to.contain("== the run broke off, or a failure belongs to no file: nothing runs once more");
    });
  }

  it("run once where all pass", () => {
    const { status, stdout, counts } = run([SOUND, SOUND]);

    expect([status, counts]).to.deep.equal([0, "2 0 0\n"]);
    expect(stdout).not.to.contain("==");
  });
});
