import { expect } from "chai";
import { checkNode } from "../../../../lib/cli/see/doctor/node-version.js";
import { isInRange } from "../../../../lib/cli/see/doctor/version-range.js";

const NOW = new Date("2026-11-27");

describe("the check of Node", () => {
  const rows: readonly (readonly [version: string, level: string])[] = [
    ["20.18.3", "fail"],
    ["18.20.0", "fail"],
    ["20.19.0", "warn"],
    ["22.20.0", "ok"],
    ["23.1.0", "warn"],
    ["24.21.0", "ok"],
    ["28.0.0", "ok"],
  ];
  for (const [version, level] of rows) {
    it(`says ${level} for ${version}`, () => {
      expect(checkNode(version, NOW)).to.include({ level });
    });
  }
});

describe("a range of versions", () => {
  const rows: readonly (readonly [range: string, inside: readonly string[], outside: readonly string[]])[] = [
    [">=3.729.0 <4", ["3.729.0", "3.1169.2"], ["3.728.9", "4.0.0"]],
    ["^1.6.0", ["1.6.0", "1.9.3", "1.6.1-rc.1"], ["1.5.9", "2.0.0"]],
    ["^0.2.2", ["0.2.2", "0.2.9"], ["0.3.0", "0.2.1"]],
    ["~8.23.1", ["8.23.9"], ["8.24.0", "8.23.0"]],
    ["7.0.2", ["7.0.2"], ["7.0.3"]],
  ];
  for (const [range, inside, outside] of rows) {
    it(`${range} has ${inside.join(", ")}, and not ${outside.join(", ")}`, () => {
      expect(inside.filter((version) => !isInRange(version, range))).to.deep.equal([]);
      expect(outside.filter((version) => isInRange(version, range))).to.deep.equal([]);
    });
  }
});
