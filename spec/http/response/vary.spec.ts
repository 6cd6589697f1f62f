import { expect } from "chai";
import * as fc from "fast-check";
import { mergeVary } from "../../../lib/http/response/vary.js";

describe("Vary", () => {
  const rows: readonly (readonly [string, string | undefined, string, string])[] = [
    ["is the added names where it was absent", undefined, "Origin", "Origin"],
    ["is the added names where it was empty", "", "Origin", "Origin"],
    ["stays where it has the name", "Origin", "Origin", "Origin"],
    ["has both names after another one is added", "Accept", "Origin", "Accept, Origin"],
    ["keeps the first spelling of a name", "origin", "Origin", "origin"],
    ["takes several names at once", "Accept", "Origin, accept, Cookie", "Accept, Origin, Cookie"],
    ["keeps the list of the application as it is", "Accept, ACCEPT", "Origin", "Accept, ACCEPT, Origin"],
    ["is read as a list without blanks", "Accept,Cookie", "Cookie, Origin", "Accept,Cookie, Origin"],
    ["stays * if a name is added", "*", "Origin", "*"],
    ["is * if it has a * among other names", "Accept, *", "Origin", "*"],
    ["is * if a * is added", "Accept", "*", "*"],
  ];

  for (const [title, current, names, merged] of rows) {
    it(title, () => {
      expect(mergeVary(current, names)).to.equal(merged);
    });
  }

  const field = fc.constantFrom("Accept", "accept", "Origin", "ORIGIN", "Cookie", "X-Inertia", "");
  const written = fc.array(field, { maxLength: 6 }).map((names) => `Host, ${names.join(",")}`);
  const added = fc.constantFrom("Origin", "Accept-Encoding", "Accept, Cookie");

  it("adds the fields that are missing, each once", () => {
    fc.assert(
      fc.property(written, added, (current, names) => {
        const merged = members(mergeVary(current, names));

        const before = members(current);
        expect(merged).to.deep.equal([...before, ...members(names).filter((name) => !before.includes(name))]);
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
