import { expect } from "chai";
import { isInjectionToken, nameOf, token } from "../../lib/di/token.js";

abstract class Store {}
class Hidden {
  static readonly name = 7 as unknown as string;
}
function Old() {}

describe("nameOf", () => {
  const rows: readonly [unknown, string][] = [
    [Store, "Store"],
    [token("greeting"), "greeting"],
    [token("__proto__"), "__proto__"],
    [class {}, "(anonymous class)"],
    [Hidden, "(anonymous class)"],
    [undefined, "undefined"],
    [null, "null"],
    ["text", "text"],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [Symbol("s"), "Symbol(s)"],
  ];

  for (const [value, expected] of rows) {
    it(`calls it ${expected}`, () => {
      const actual = nameOf(value);

      expect(actual).to.equal(expected);
    });
  }
});

describe("isInjectionToken", () => {
  const rows: readonly [string, unknown, boolean][] = [
    ["an abstract class", Store, true],
    ["a token", token("x"), true],
    ["one of the language's classes", URL, true],
    ["a function", Old, false],
    ["an arrow", () => 1, false],
    ["a string", "x", false],
    ["a symbol", Symbol("x"), false],
    ["undefined", undefined, false],
    ["an instance", new URL("http://x"), false],
  ];

  for (const [title, value, expected] of rows) {
    it(`${expected ? "takes" : "refuses"} ${title}`, () => {
      const actual = isInjectionToken(value);

      expect(actual).to.equal(expected);
    });
  }
});

describe("token", () => {
  it("makes another token each time, whatever the name", () => {
    expect(token("a")).not.to.equal(token("a"));
  });
});
