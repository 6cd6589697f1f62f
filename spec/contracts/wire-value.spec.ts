/** The texts of a URL as values, as a table and as properties. */
import { expect } from "chai";
import * as fc from "fast-check";
import type { JsonSchema } from "../../lib/contracts/json-schema.js";
import { compileWireValue } from "../../lib/contracts/wire-value.js";
import type { SchemaIssue } from "../../lib/runtime/standard-schema.js";

const REFUSED = Symbol("refused");

function convert(schema: JsonSchema, value: unknown): unknown {
  const faults: SchemaIssue[] = [];
  const converted = compileWireValue(schema)(value, [], faults);
  return faults.length > 0 ? REFUSED : converted;
}

const integer = { type: "integer" };
const number = { type: "number" };
const boolean = { type: "boolean" };

const ROWS: readonly (readonly [JsonSchema, unknown, unknown])[] = [
  [integer, "0", 0],
  [integer, "-7", -7],
  [integer, "9007199254740991", Number.MAX_SAFE_INTEGER],
  ...["9007199254740993", "", "NaN", "0x10", "+1", "01", "1.0", " 1", "1e3", "Infinity", "١"].map(
    (text) => [integer, text, REFUSED] as const,
  ),
  [number, "1.0", 1],
  [number, "1.5e3", 1500],
  [number, "0.000123456789012345", 0.000123456789012345],
  ...["", "NaN", "1e400", "0x10", "+1", "01", ".5", "1.", "0.1234567890123456", "9007199254740993", "1,5"].map(
    (text) => [number, text, REFUSED] as const,
  ),
  [boolean, "true", true],
  [boolean, "false", false],
  ...["", "1", "0", "yes", "True", "on"].map((text) => [boolean, text, REFUSED] as const),
  [{ type: "string" }, "1", "1"],
  [{ anyOf: [{ type: "string" }, integer] }, "1", "1"],
  [{ anyOf: [integer, boolean] }, "true", true],
  [{ anyOf: [integer, { type: "null" }] }, "x", REFUSED],
  [{ enum: [1, 2] }, "2", 2],
  [{ const: 3 }, "3", 3],
  [{ type: "array", items: integer }, "1", [1]],
  [{ type: "array", items: integer }, ["1", "2"], [1, 2]],
  [{ type: "array", items: integer }, ["1", ""], REFUSED],
];

describe("the wire form of a value", () => {
  for (const [schema, given, expected] of ROWS)
    it(`is ${JSON.stringify(given)} for ${JSON.stringify(schema)}: ${String(expected)}`, () => {
      expect(convert(schema, given)).to.deep.equal(expected);
    });

  it("follows a schema that contains itself", () => {
    const node: JsonSchema = { type: "object", properties: { n: integer, next: { $ref: "#/$defs/node" } } };
    const next = Object.assign(Object.create(null), { n: "2" });
    const value = Object.assign(Object.create(null), { n: "1", next });
    const converted = convert({ $ref: "#/$defs/node", $defs: { node } }, value);
    expect(JSON.stringify(converted)).to.equal('{"n":1,"next":{"n":2}}');
  });

  it("keeps every safe integer exactly", () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => Object.is(convert(integer, String(value)), value || 0)));
  });

  it("keeps every decimal of at most 15 digits exactly", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 14 }), (digits, at) => {
        const text = String(digits).padStart(at + 1, "0");
        const decimal = at === 0 ? text : `${text.slice(0, -at)}.${text.slice(-at)}`;
        return convert(number, decimal) === Number(decimal);
      }),
    );
  });
});
