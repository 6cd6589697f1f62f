/**
 * A table of mistakes that users make. Each is run for real, in a process of its own, and the output names what is wrong, where or why, and
 * how to mend it. The rows are in the folder `mistakes`.
 */
import { expect } from "chai";
import { MistakeRuns } from "../support/mistake-runs.js";
import { START_UP } from "./mistakes/start-up.js";
import { PARTS } from "./mistakes/parts.js";
import { SILENT } from "./mistakes/silent.js";
import { TOOLS } from "./mistakes/tools.js";
import { textOf } from "../support/sources.js";

const MISTAKES = [...START_UP, ...SILENT, ...PARTS, ...TOOLS];

/** The most lines of a start-up report that is one screen. */
const SCREEN = 40;

/** Of the page "Troubleshooting", which has the messages of Node and of tools as its headings. */
function headings(): string {
  const lines = (textOf("docs/guide/troubleshooting.md") ?? "").split("\n");
  return lines.filter((line) => line.startsWith("#")).join("\n");
}

describe("a mistake", function () {
  this.timeout(120_000);
  let runs: MistakeRuns;

  before(async () => {
    runs = await MistakeRuns.prepare(MISTAKES);
  });

  after(() => runs[Symbol.dispose]());

  it("stands in the table once, and there are at least 38", () => {
    const titles = MISTAKES.map(({ title }) => title);

    expect(titles.length).to.be.at.least(38);
    expect(new Set(titles).size).to.equal(titles.length);
  });

  for (const mistake of MISTAKES) {
    it(`is named with its cure: ${mistake.title}`, async () => {
      const { output, code } = await runs.run(mistake);

      let rest = output;
      for (const part of mistake.says) {
        expect(rest, output).to.include(part);
        rest = rest.slice(rest.indexOf(part));
      }
      expect(code, output).to.equal(mistake.serves === true ? 0 : 1);
      expect(output.trimEnd().split("\n").length, output).to.be.at.most(mistake.lines ?? SCREEN);
      if (mistake.isExplained === true) expect(headings()).to.include(mistake.says[0]);
    });
  }
});
