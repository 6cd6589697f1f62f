import { expect } from "chai";
import { checkFlashName, checkName, serializeValue } from "../../../lib/stages/session/session-value.js";

/** Lists in lists. */
const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown;

describe("the value of a session", () => {
  it("may have members of every name, such as a form has that a visitor sends", () => {
    for (const name of ["toJSON", "__proto__", "constructor", "toString", "hasOwnProperty", "then", "length", ""]) {
      const fields = Object.defineProperty({}, name, { value: "x", enumerable: true });

      expect(serializeValue("form", fields), name).to.equal(`{"${name}":"x"}`);
    }
  });

  it("has no function that JSON calls, in any depth", () => {
    for (const value of [{ toJSON: () => "x" }, { a: [{ toJSON: () => "x" }] }])
      expect(() => serializeValue("x", value)).to.throw(TypeError, "an object with toJSON, which JSON cannot keep");
  });

  it("is a TypeError where it is nested deeper than the stack", () => {
    expect(() => serializeValue("tree", nested(200_000))).to.throw(
      TypeError,
      "the session value tree is nested too deeply",
    );
    expect(serializeValue("tree", nested(500))).to.have.lengthOf(1000);
  });
});

describe("the name of a session's value", () => {
  it("has 1 to 256 characters without lone surrogates, so that no store confuses two names", () => {
    for (const name of ["\ud800", "a\udfff", "\udc00\ud800", "", "x".repeat(257), 7, undefined])
      expect(() => checkName(name), JSON.stringify(name)).to.throw(TypeError, "a text of 1 to 256 characters");
    for (const name of ["__proto__", "constructor", "\u{1f600}", "\0", "x".repeat(256)])
      expect(() => checkName(name), JSON.stringify(name)).not.to.throw();
  });

  it("is checked in the same way for texts and bags of the flash, which may be empty", () => {
    for (const name of ["\ud800", "x".repeat(257), 7, undefined])
      expect(() => checkFlashName(name), JSON.stringify(name)).to.throw(TypeError, "a text of at most 256 characters");
    for (const name of ["", "__proto__", "\u{1f600}"])
      expect(() => checkFlashName(name), JSON.stringify(name)).not.to.throw();
  });
});
