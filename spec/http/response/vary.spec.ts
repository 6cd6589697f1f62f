import { expect } from "chai";
import * as fc from "fast-check";
import { mergeVary } from "../../../lib/http/response/vary.js";

describe("Vary", () => {
  const rows: readonly (readonly [string, string | undefined, string, string])[] = [
    ["nothing there: what is added", undefined, "Origin", "Origin"],
    ["an empty value: what is added", "", "Origin", "Origin"],
    ["the same: stays", "Origin", "Origin", "Origin"],
    ["another: both", "Accept", "Origin", "Accept, Origin"],
    ["the same in another case: the first spelling", "origin", "Origin", "origin"],
    ["several at once", "Accept", "Origin, accept, Cookie", "Accept, Origin, Cookie"],
    ["repetitions inside what was there go", "Accept, ACCEPT", "Origin", "Accept, Origin"],
    ["empty members go", " ,Accept,, ", "Origin", "Accept, Origin"],
    ["no blanks: still a list", "Accept,Cookie", "Origin", "Accept, Cookie, Origin"],
    ["a star stays alone", "*", "Origin", "*"],
    ["a star among others", "Accept, *", "Origin", "*"],
    ["a star is added", "Accept", "*", "*"],
  ];

  for (const [title, current, names, merged] of rows) {
    it(title, () => {
      expect(mergeVary(current, names)).to.equal(merged);
    });
  }

  const field = fc.constantFrom("Accept", "accept", "Origin", "ORIGIN", "Cookie", "X-Inertia", "");
  const written = fc.array(field, { maxLength: 6 }).map((names) => `Host, ${names.join(",")}`);
  const added = fc.constantFrom("Origin", "Accept-Encoding", "Accept, Cookie");

  it("names every field of both lists, each once", () => {
    fc.assert(
      fc.property(written, added, (current, names) => {
        const merged = members(mergeVary(current, names));

        expect(merged).to.deep.equal([...new Set([...members(current), ...members(names)])]);
      }),
    );
  });

  it("does not change if the same field is added again", () => {
    fc.assert(
      fc.property(written, added, (current, names) => {
        const once = mergeVary(current, names);

        expect(mergeVary(once, names)).to.equal(once);
      }),
    );
  });
});

function members(value: string): string[] {
  return value
    .split(",")
    .map((member) => member.trim().toLowerCase())
    .filter((member) => member !== "");
}
