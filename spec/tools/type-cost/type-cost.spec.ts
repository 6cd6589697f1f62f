/** The gate on the cost of types: its verdicts, and that its programs compile. */
import { expect } from "chai";
import { type Style, STYLES, TypeCounter } from "./count.js";
import { type Counts, judge, MAX_INSTANTIATIONS, SIZES, toFigures } from "./figures.js";
import { PIECES } from "./fixture.js";

/** Programs whose imports cost 50, and whose endpoints cost 100 for each piece after it; `extra` is added to the last piece. */
function createCounts(extra: (endpoints: number) => number = () => 0): Counts {
  const rows = PIECES.map((piece, at) => {
    const counts = SIZES.map((size) => {
      const cost = at === 0 ? size : size + 50 + 100 * (at - 1) * size;
      return [size, cost + (piece === PIECES.at(-1) ? extra(size) : 0)];
    });
    return [piece, Object.fromEntries(counts)];
  });
  // Every piece has a count for every size.
  return Object.fromEntries(rows) as Counts;
}

const LAST = PIECES.at(-1) ?? "schemas";

describe("the verdict on the cost of types", () => {
  it("gives each piece the cost that it adds", () => {
    expect(toFigures(createCounts())).to.deep.equal({ import: 50, endpoint: 100, handler: 100, url: 100, client: 100 });
  });

  for (const [what, extra, failures] of [
    ["passes the figures themselves", () => 0, []],
    ["fails a piece above its figure", (size: number) => size * 5, [`${LAST} costs 105`]],
    [
      "fails a sum above the limit",
      (size: number) => size * MAX_INSTANTIATIONS,
      [`${LAST} costs 1600`, "an endpoint costs 1900 of 1500"],
    ],
    [
      "fails a cost that grows with the number of endpoints",
      (size: number) => size * size * 0.02,
      [`${LAST} costs 112`, "not equal"],
    ],
  ] as const) {
    it(what, () => {
      const verdicts = judge("legacy", createCounts(extra), toFigures(createCounts()));

      const failed = verdicts.filter((verdict) => verdict.failed).map(({ line }) => line);
      expect(failed).to.have.length(failures.length);
      for (const [index, failure] of failures.entries()) expect(failed[index]).to.contain(failure);
    });
  }
});

describe("the programs of the gate on the cost of types", function () {
  this.timeout(120_000);
  let counter: TypeCounter;

  before(() => {
    counter = new TypeCounter();
  });

  after(() => counter[Symbol.dispose]());

  // The keys of the constant.
  for (const style of Object.keys(STYLES) as Style[]) {
    it(`compile with ${style} decorators, and cost less than the limit`, async () => {
      const [schemas, all] = [await counter.count("schemas", 10, style), await counter.count(LAST, 10, style)];

      expect((all - schemas) / 10).to.be.within(50, MAX_INSTANTIATIONS);
    });
  }
});
