/**
 * What the guide shows is what happens: its programs compile as its readers would compile them, and its transcripts say what the
 * sample says today. Where the sample has changed on purpose: `RECORD=1 npx mocha --grep transcripts` writes them anew.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Child } from "../support/child.js";
import { compileGuide, compiledProgram, guidePrograms } from "../support/guide-programs.js";
import { ROOT, textOf } from "../support/sources.js";
import { lasting, replay } from "../support/transcripts.js";

const TRANSCRIPTS = "docs/guide/transcripts.md";

const PROGRAMS = {
  links: () => Child.start("../../samples/links/main.js"),
  "links-in-release": () => Child.start("../../samples/links/main.js", { NODE_ENV: "production" }),
  panic: () => Child.start(compiledProgram("transcripts/panic.js")),
};

describe("the guide", function () {
  this.timeout(120_000);
  let findings: readonly string[];

  before(async () => {
    findings = await compileGuide(guidePrograms());
  });

  it("shows programs that compile with the settings it recommends", () => {
    expect(guidePrograms()).to.have.property("length").above(0);
    expect(findings).to.deep.equal([]);
  });

  it("names each file of a page once", () => {
    const paths = guidePrograms().map(({ path }) => path);

    expect(new Set(paths).size).to.equal(paths.length);
  });

  it("shows the start-up report as it is", async () => {
    const [shown = ""] = /^\[StartupError[\s\S]*?\]$/m.exec(textOf("docs/guide/modules.md") ?? "") ?? [];

    await using child = await Child.start(compiledProgram("modules/report.js"));
    const code = await child.exitCode();

    expect(shown).not.to.equal("");
    expect(child.errors).to.include(shown);
    expect(code).to.equal(1);
  });

  it("has transcripts that say what the sample says", async () => {
    const written = textOf(TRANSCRIPTS) ?? "";

    const replayed = await replay(written, PROGRAMS);

    if (process.env["RECORD"] !== undefined) writeFileSync(join(ROOT, TRANSCRIPTS), replayed);
    else expect(lasting(written), "RECORD=1 npx mocha --grep transcripts").to.equal(lasting(replayed));
  });
});
