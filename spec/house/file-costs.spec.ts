/** The summary of a run: what it costs, and the files that cost most. */
import { expect } from "chai";
import { summary } from "../support/file-costs.js";

describe("the summary of a run", () => {
  it("has the sum of all files, and the ten that cost most in their order", () => {
    const costs = Array.from({ length: 12 }, (_, at) => ({ file: `a/${at}.spec.js`, processor: at / 2, elapsed: at }));

    const lines = summary(costs, 20.04).split("\n");

    expect(lines[0]).to.equal("    33.0 s of processors for 12 files in   20.0 s; the files that cost most:");
    expect(lines.slice(1, 3)).to.deep.equal([
      "     5.5 s in   11.0 s  a/11.spec.js",
      "     5.0 s in   10.0 s  a/10.spec.js",
    ]);
    expect(lines.at(-2)).to.contain("a/2.spec.js");
  });
});
