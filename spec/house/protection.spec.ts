/** The page on protection responds to each requirement of the chapters of OWASP ASVS 5.0.0 that it names, once, by specs that exist. */
import { expect } from "chai";
import { textOf } from "../support/sources.js";

/** The number of requirements of each section of a chapter; 0 for one that the page leaves out. */
const CHAPTERS: readonly (readonly [chapter: number, counts: readonly number[]])[] = [
  [6, [3, 12, 8, 6, 8, 4, 2, 4]],
  [7, [3, 4, 2, 5, 3, 2]],
  [9, [3, 4]],
  [3, [0, 0, 5, 0, 8]],
  [8, [4, 4, 3, 2]],
  [11, [0, 5, 5, 4, 2]],
  [16, [0, 5, 4, 3, 4]],
];

describe("the page on protection", () => {
  const page = textOf("docs/guide/protection.md") ?? "";
  const rows = [...page.matchAll(/^\| \d.*$/gm)].map(([row]) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));

  it("has a row for each requirement, in the order of the standard, and no other", () => {
    const expected = CHAPTERS.flatMap(([chapter, counts]) =>
      counts.flatMap((count, section) =>
        Array.from({ length: count }, (_, index) => `${chapter}.${section + 1}.${index + 1}`),
      ),
    );

    expect(rows.map(([, number]) => number)).to.deep.equal(expected);
  });

  it("says of each its level, who keeps it, and how", () => {
    const wrong = rows.filter(
      ([, , level = "", asks, by = "", how]) =>
        !/^[123]$/.test(level) || !/^(framework|application|both|not)$/.test(by) || asks === "" || how === "",
    );

    expect(wrong).to.deep.equal([]);
  });

  it("names tests that exist", () => {
    const named = rows.map(([, number, , , , , spec = ""]) => ({ number, spec })).filter(({ spec }) => spec !== "");
    const missing = named.filter(({ spec }) => {
      const [, path = "", title = ""] = /^`(.+)`: (.+)$/.exec(spec) ?? [];
      return title === "" || !(textOf(path) ?? "").includes(title);
    });

    expect(named).to.have.lengthOf.above(90);
    expect(missing).to.deep.equal([]);
  });
});
