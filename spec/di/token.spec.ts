import { expect } from "chai";
import { isInjectionToken, describeToken, token } from "../../lib/di/token.js";

abstract class Store {}
class WithStaticName {
  static readonly name = 7 as unknown as string;
}
function plainFunction() {}

describe("describeToken", () => {
  const rows: readonly [unknown, string][] = [
    [Store, "Store"],
    [token("greeting"), "greeting"],
    [token("__proto__"), "__proto__"],
    [class {}, "(anonymous class)"],
    [WithStaticName, "(anonymous class)"],
    [undefined, "undefined"],
    [null, "null"],
    ["text", "text"],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [Symbol("s"), "Symbol(s)"],
  ];

  for (const [value, expected] of rows) {
    it(`is ${expected}`, () => {
      const actual = describeToken(value);

      expect(actual).to.equal(expected);
    });
  }
});

describe("isInjectionToken", () => {
  const rows: readonly [string, unknown, boolean][] = [
    ["an abstract class", Store, true],
    ["a token", token("x"), true],
    ["one of the language's classes", URL, true],
    ["a function", plainFunction, false],
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
  it("makes another token each time, even under the same name", () => {
    expect(token("a")).not.to.equal(token("a"));
  });
});
