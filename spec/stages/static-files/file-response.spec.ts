import { expect } from "chai";
import * as fc from "fast-check";
import { readRange } from "../../../lib/http/response/conditions.js";

describe("readRange", () => {
  const none = "unsatisfiable";
  const rows: readonly (readonly [string, string | undefined, number, ReturnType<typeof readRange>])[] = [
    ["no header", undefined, 10, undefined],
    ["from and to", "bytes=2-4", 10, { first: 2, length: 3 }],
    ["one byte", "bytes=0-0", 10, { first: 0, length: 1 }],
    ["from", "bytes=7-", 10, { first: 7, length: 3 }],
    ["the last bytes", "bytes=-3", 10, { first: 7, length: 3 }],
    ["more last bytes than the file has", "bytes=-30", 10, { first: 0, length: 10 }],
    ["to beyond the end", "bytes=8-99", 10, { first: 8, length: 2 }],
    ["all bytes", "bytes=0-", 10, { first: 0, length: 10 }],
    ["the unit in capitals", "Bytes=0-1", 10, { first: 0, length: 2 }],
    ["from the end", "bytes=10-", 10, none],
    ["from beyond the end", "bytes=11-12", 10, none],
    ["the last 0 bytes", "bytes=-0", 10, none],
    ["from a huge number", `bytes=${"9".repeat(400)}-`, 10, none],
    ["to a huge number", `bytes=1-${"9".repeat(400)}`, 10, { first: 1, length: 9 }],
    ["all bytes of an empty file", "bytes=0-", 0, none],
    ["the end of an empty file", "bytes=-1", 0, none],
    ["a first byte after the last", "bytes=4-2", 10, undefined],
    ["several", "bytes=0-1,3-4", 10, undefined],
    ["very many", `bytes=0-${",0-".repeat(4000)}`, 10, undefined],
    ["neither first nor last", "bytes=-", 10, undefined],
    ["no range", "bytes=", 10, undefined],
    ["another unit", "lines=0-1", 10, undefined],
    ["no unit", "0-1", 10, undefined],
    ["a sign", "bytes=+1-2", 10, undefined],
    ["two dashes", "bytes=1--2", 10, undefined],
    ["a space", "bytes=1 - 2", 10, undefined],
    ["a fraction", "bytes=1.5-2", 10, undefined],
    ["hexadecimal", "bytes=0x1-0x2", 10, undefined],
  ];

  for (const [title, header, size, range] of rows) {
    it(`${range === undefined ? "ignores" : range === none ? "does not satisfy" : "reads"}: ${title}`, () => {
      expect(readRange(header, size)).to.deep.equal(range);
    });
  }

  it("returns a section inside the file, for any header", () => {
    const position = fc.nat(120);
    const text = fc.oneof(
      { weight: 3, arbitrary: fc.tuple(position, position).map(([from, to]) => `${from}-${to}`) },
      { weight: 2, arbitrary: position.map((from) => `${from}-`) },
      { weight: 2, arbitrary: position.map((last) => `-${last}`) },
      fc.stringMatching(/^[-0-9,=byts ]{0,12}$/),
    );

    // Inputs without a range do not count as runs.
    fc.assert(
      fc.property(text, fc.nat(100), (rest, size) => {
        const range = readRange(`bytes=${rest}`, size);

        fc.pre(typeof range === "object");
        expect(range.first).to.be.at.least(0);
        expect(range.length).to.be.at.least(1);
        expect(range.first + range.length).to.be.at.most(size);
      }),
      { numRuns: 1000 },
    );
  });
});
