import { expect } from "chai";
import { anything, assert, constantFrom, pre, property } from "fast-check";
import { tracing } from "../../../lib/tracing/tracing.js";
import { JsonLog } from "../../../lib/observe/logging/json-log.js";
import { REDACTED } from "../../../lib/observe/logging/redaction.js";
import { CaptureSink } from "../../../lib/observe/logging/sink.js";
import { toAttribute, MAX_TEXT_LENGTH } from "../../../lib/observe/otel/attributes.js";

describe("toAttribute", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const { proxy: revoked, revoke } = Proxy.revocable([], {});
  revoke();
  const unreadable = {
    get secret(): string {
      throw new Error("no");
    },
  };

  const table: readonly (readonly [what: string, value: unknown, attribute: unknown])[] = [
    ["a string", "a.csv", "a.csv"],
    ["an empty string", "", ""],
    ["a string with quotation marks", '"a"', '"a"'],
    ["true", true, true],
    ["false", false, false],
    ["an integer", 3, 3],
    ["a fraction", 0.25, 0.25],
    ["NaN", Number.NaN, "null"],
    ["infinity", Infinity, "null"],
    ["a small bigint", 3n, 3],
    ["a large bigint", 2n ** 70n, "1180591620717411303424"],
    ["null", null, "null"],
    ["undefined", undefined, undefined],
    ["a function", () => {}, undefined],
    ["a symbol", Symbol("x"), undefined],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["an invalid date", new Date(Number.NaN), "null"],
    ["a URL", new URL("http://a/b?c"), "http://a/b?c"],
    ["an error and its cause", new Error("a", { cause: new TypeError("b") }), "Error: a: caused by TypeError: b"],
    ["bytes", new Uint8Array(3), "[3 bytes]"],
    ["strings", ["a", "b"], ["a", "b"]],
    ["numbers", [1, 2.5], [1, 2.5]],
    ["booleans", [true, false], [true, false]],
    ["an empty list", [], "[]"],
    ["numbers with NaN", [1, Number.NaN], "[1,null]"],
    ["numbers with infinity", [1, Infinity], "[1,null]"],
    ["a list of several kinds", ["a", 1], '["a",1]'],
    ["a list with null", ["a", null], '["a",null]'],
    ["a list with a hole", [1, , 3], "[1,null,3]"], // oxlint-disable-line no-sparse-arrays
    [
      "more than 128 elements",
      Array.from({ length: 129 }, () => 1),
      `[${Array.from({ length: 129 }, () => 1).join()}]`,
    ],
    ["an object, its keys sorted", { b: 1, a: "x" }, '{"a":"x","b":1}'],
    ["an object with a name that the log redacts", { token: "t" }, '{"token":"t"}'],
    ["a map", new Map([["a", 1]]), '{"a":1}'],
    ["a set", new Set([1, "a"]), '[1,"a"]'],
    ["an object with toJSON", { toJSON: () => "text" }, "text"],
    ["a cycle", cycle, '{"self":"[circular]"}'],
    ["a list that cannot be read", revoked, "[unreadable]"],
    ["a getter that throws", unreadable, '{"secret":"[unreadable]"}'],
  ];

  for (const [what, value, attribute] of table) {
    it(`converts ${what}`, () => {
      expect(toAttribute(value)).to.deep.equal(attribute);
    });
  }

  it("truncates long text, and does not cut a surrogate pair", () => {
    expect(toAttribute("x".repeat(MAX_TEXT_LENGTH))).to.have.length(MAX_TEXT_LENGTH);
    expect(toAttribute("x".repeat(MAX_TEXT_LENGTH + 1))).to.have.length(MAX_TEXT_LENGTH);
    expect(toAttribute(`${"x".repeat(MAX_TEXT_LENGTH - 1)}😀`)).to.equal("x".repeat(MAX_TEXT_LENGTH - 1));
    expect(toAttribute({ text: "x".repeat(MAX_TEXT_LENGTH) })).to.have.length(MAX_TEXT_LENGTH);
  });

  it("converts a list of texts to one text if it is longer than one text may be", () => {
    const half = "x".repeat(MAX_TEXT_LENGTH / 2);

    expect(toAttribute([half, half])).to.deep.equal([half, half]);
    expect(toAttribute([half, half, "x"])).to.equal(JSON.stringify([half, half]).slice(0, MAX_TEXT_LENGTH));
  });

  it("shows any value as the JSON log does", () => {
    const key = constantFrom("a", "b", "c d", "é", "0", "__proto__");
    const values = anything({
      key,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });

    assert(
      property(values, (value) => {
        const attribute = toAttribute(value);
        const logged = loggedAs(value);
        // A key of a map may be a redacted name, such as "bind".
        pre(logged?.includes(REDACTED) !== true);

        if (typeof attribute !== "string") expect(JSON.stringify(attribute)).to.equal(logged);
        else if (attribute.length < MAX_TEXT_LENGTH - 1) expect([logged, textIn(logged)]).to.include(attribute);
      }),
    );
  });
});

/** The JSON of the value in a log line, under a name that is not redacted; `undefined` if the log leaves it out. */
function loggedAs(value: unknown): string | undefined {
  const sink = new CaptureSink();
  const registry = tracing.registry().with(new JsonLog(sink));
  tracing.withSubscriber(registry, () => tracing.target("t").info("m", { v: value }));
  const [line = ""] = sink.lines();
  return line.startsWith(START)
    ? line.slice(START.length, line.lastIndexOf('},"level":"INFO","message":"m"'))
    : undefined;
}

const START = '{"fields":{"v":';

/** The text of a JSON string; `undefined` for other JSON. */
function textIn(json: string | undefined): unknown {
  return json?.startsWith('"') === true ? JSON.parse(json) : undefined;
}
