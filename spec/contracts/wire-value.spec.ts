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
const auto = { type: "string", const: "auto" };

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
  [number, "1.500000000000000000", 1.5],
  [number, "0.1234567890123456", 0.1234567890123456],
  [number, "0.12345678901234566", 0.12345678901234566],
  [number, "0.123456789012345678", REFUSED],
  ...["", "NaN", "1e400", "0x10", "+1", "01", ".5", "1.", "9007199254740993", "1,5", "1e-400"].map(
    (text) => [number, text, REFUSED] as const,
  ),
  [boolean, "true", true],
  [boolean, "false", false],
  ...["", "1", "0", "yes", "True", "on"].map((text) => [boolean, text, REFUSED] as const),
  [{ type: "string" }, "1", "1"],
  [{ anyOf: [{ type: "string" }, integer] }, "1", "1"],
  [{ anyOf: [auto, integer] }, "auto", "auto"],
  [{ anyOf: [auto, integer] }, "5", 5],
  [{ anyOf: [auto, integer] }, "other", REFUSED],
  [{ anyOf: [{ type: "string", enum: ["5", "all"] }, integer] }, "5", "5"],
  [{ anyOf: [auto, { type: "array", items: integer }] }, "5", [5]],
  [{ anyOf: [integer, boolean] }, "true", true],
  [{ anyOf: [integer, { type: "null" }] }, "x", REFUSED],
  [{ enum: [1, 2] }, "2", 2],
  [{ const: 3 }, "3", 3],
  [{ type: "array", items: integer }, "1", [1]],
  [{ type: "array", items: integer }, ["1", "2"], [1, 2]],
  [{ type: "array", items: integer }, ["1", ""], REFUSED],
  [{ type: "array", prefixItems: [integer, boolean] }, ["1", "true", "2"], [1, true, "2"]],
  [{ type: "array", prefixItems: [{ type: "string" }], items: integer }, ["1", "2", "3"], ["1", 2, 3]],
  [{ anyOf: [integer, { type: "array", items: { type: "string" } }] }, "x", ["x"]],
  [{ type: "array", items: { type: "array", items: integer } }, "1", ["1"]],
  [{ anyOf: [integer, {}] }, "x", "x"],
  [{ anyOf: [integer, { minimum: 2 } as JsonSchema] }, "x", "x"],
  [{ type: ["string", "integer"], allOf: [integer] }, "5", 5],
  [{ allOf: [{ enum: ["5", 5, 6] }, { type: "number" }] }, "5", 5],
  [{ const: [false] }, ["false"], [false]],
  [{ enum: [[0], [true]] }, "true", [true]],
];

const self: JsonSchema = { $ref: "#" };
const many = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [
    `part${at}`,
    { anyOf: Array.from({ length: 20 }, (_other, index) => ({ $ref: `#/$defs/part${index}` })) },
  ]),
);

/** References, of which each row has its own name in a title. */
const REFERENCES: readonly (readonly [name: string, JsonSchema, unknown, unknown])[] = [
  ["with another keyword beside it", { $ref: "#/$defs/n", type: ["string", "integer"], $defs: { n: integer } }, "5", 5],
  ["with a percent sign that encodes nothing", { $ref: "#/$defs/100%", $defs: { "100%": integer } }, "5", 5],
  [
    "to a boolean",
    { $ref: "#/$defs/any", $defs: JSON.parse('{ "any": true }') as JsonSchema["$defs"] & object },
    "5",
    "5",
  ],
  ["to an anchor", { type: "array", items: { $ref: "#item" } }, ["5"], ["5"]],
  ["to another document", { type: "array", items: { $ref: "https://example.org/#/items" } }, ["5"], ["5"]],
  ["to a member that every object inherits", { $ref: "#/constructor" }, "5", "5"],
  ["to itself", self, "5", "5"],
  ["to itself among alternatives", { anyOf: [self, integer] }, "5", 5],
  ["to itself among parts", { allOf: [self, integer] }, "5", 5],
  ["to many schemas that contain each other", { $ref: "#/$defs/part0", $defs: many }, "5", "5"],
];

const toFields = (members: object): object => Object.assign(Object.create(null), members) as object;
const toObject = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({ type: "object", properties });

const kinds: JsonSchema = {
  oneOf: [
    toObject({ k: { type: "string", const: "a" }, v: integer }),
    toObject({ k: { type: "string", enum: ["b", "c"] }, v: { type: "string" } }),
    { allOf: [toObject({ k: { anyOf: [{ const: "d" }, { const: "e" }] } }), toObject({ v: boolean })] },
    toObject({ k: { type: "number", const: 1 }, v: { type: "array", items: integer } }),
  ],
};
const unmarked: JsonSchema = {
  anyOf: [toObject({ v: integer, w: integer }), toObject({ v: boolean, w: { type: "string" } })],
};

const MEMBERS: readonly (readonly [JsonSchema, object, unknown])[] = [
  [kinds, { k: "a", v: "1" }, { k: "a", v: 1 }],
  [kinds, { k: "a", v: "x" }, REFUSED],
  [kinds, { k: "b", v: "1" }, { k: "b", v: "1" }],
  [kinds, { k: "c", v: "1" }, { k: "c", v: "1" }],
  [kinds, { k: "e", v: "true" }, { k: "e", v: true }],
  [kinds, { k: "1", v: "1" }, { k: 1, v: [1] }],
  [kinds, { k: "z", v: "1" }, { k: "z", v: "1" }],
  [{ anyOf: [{ type: "null" }, kinds] }, { k: "a", v: "1" }, { k: "a", v: 1 }],
  [{ patternProperties: { "^n": integer } }, { n1: "1", m: "1" }, { n1: 1, m: "1" }],
  [{ patternProperties: { "[": integer }, additionalProperties: integer }, { n: "1" }, { n: 1 }],
  [{ const: { a: 1, b: { c: [true] } } }, toFields({ a: "1", b: toFields({ c: "true" }) }), { a: 1, b: { c: [true] } }],
  [{ enum: [{ a: 1 }, { a: true, b: 2 }] }, { a: "true", b: "2" }, { a: true, b: 2 }],
  [
    toObject(JSON.parse('{ "__proto__": { "type": "integer" }, "toString": true }') as Record<string, JsonSchema>),
    { toString: "1" },
    { toString: "1" },
  ],
  [unmarked, { v: "1", w: "2" }, { v: 1, w: "2" }],
  [unmarked, { v: "true" }, { v: true }],
  [unmarked, { v: "x" }, REFUSED],
];

describe("the wire form of a value", () => {
  for (const [schema, given, expected] of ROWS)
    it(`is ${JSON.stringify(given)} for ${JSON.stringify(schema)}: ${String(expected)}`, () => {
      expect(convert(schema, given)).to.deep.equal(expected);
    });

  for (const [schema, given, expected] of MEMBERS)
    it(`is that of the alternative which the constants of ${JSON.stringify(given)} choose`, () => {
      const converted = convert(schema, toFields(given));
      expect(converted === REFUSED ? REFUSED : (JSON.parse(JSON.stringify(converted)) as unknown)).to.deep.equal(
        expected,
      );
    });

  for (const [name, schema, given, expected] of REFERENCES)
    it(`follows or ignores a reference ${name}`, () => {
      expect(convert(schema, given)).to.deep.equal(expected);
    });

  it("follows a schema that contains itself as an alternative of a member", () => {
    const node: JsonSchema = toObject({ n: integer, next: { anyOf: [{ type: "null" }, { $ref: "#" }] } });
    const converted = convert(node, toFields({ n: "1", next: toFields({ n: "2", next: toFields({ n: "3" }) }) }));
    expect(JSON.stringify(converted)).to.equal('{"n":1,"next":{"n":2,"next":{"n":3}}}');
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

  it("keeps every number that JavaScript writes", () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(numbers, (value) =>
        [String(value), value.toExponential()].every((text) => convert(number, text) === value),
      ),
    );
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
