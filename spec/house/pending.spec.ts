/** Under CI a pending spec fails the run, so that a machine without a program that the specs need cannot be green. */

import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/sources.js";

const SPECS = 'it("passes", () => {});\nit("is skipped", function () { this.skip(); });\n';

describe("a pending spec", function () {
  this.timeout(20_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "pending-"));
    writeFileSync(join(folder, "pending.cjs"), SPECS);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A mocha of its own, with the setup of the project and nothing else of its configuration. */
  function run(ci: string) {
    const setup = join(ROOT, "dist/spec/support/setup.js");
    const { CI: _ci, MOCHA_COUNTS: _counts, npm_lifecycle_event: _event, ...environment } = process.env;
    return spawnSync(
      process.execPath,
      [join(ROOT, "node_modules/mocha/bin/mocha.js"), "--no-config", "--require", setup, join(folder, "pending.cjs")],
      { cwd: ROOT, encoding: "utf8", env: { ...environment, CI: ci } },
    );
  }

  it("fails the run under CI=true and is named", () => {
    const { status, stdout } = run("true");

    expect(status).to.equal(1);
    expect(stdout).to.match(/1 passing[^]*1 failing[^]*is skipped:/);
  });

  it("is only reported elsewhere", () => {
    const { status, stdout } = run("");

    expect(status).to.equal(0);
    expect(stdout).to.match(/1 passing[^]*1 pending/);
  });
});
