/** Which members of a value its JSON Schema declares: a pure function. */
import { expect } from "chai";
import { z } from "zod";
import { compileDeclaredMembers } from "../../lib/contracts/declared-members.js";
import { type JsonSchema, NoJsonSchema, readJsonSchema } from "../../lib/contracts/json-schema.js";

const ID: JsonSchema = { type: "object", properties: { id: { type: "number" } } };
const NAME: JsonSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const tree: JsonSchema = {
  $ref: "#/$defs/tree",
  $defs: { tree: { type: "object", properties: { value: {}, children: { items: { $ref: "#/$defs/tree" } } } } },
};

const kinds: JsonSchema = {
  oneOf: ["cat", "dog"].map((kind) => ({
    type: "object",
    properties: { kind: { const: kind }, [kind]: {} },
    required: ["kind"],
  })),
};

const patterns: JsonSchema = { type: "object", patternProperties: { "^x-": ID } };

interface Row {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly left: unknown;
  readonly undeclared: readonly string[];
}

const rows: Readonly<Record<string, Row>> = {
  "of an object": { schema: ID, value: { id: 1, hash: 2 }, left: { id: 1 }, undeclared: ["hash"] },
  "of an object inside another one": {
    schema: { type: "object", properties: { owner: ID } },
    value: { owner: { id: 1, hash: 2 }, at: 3 },
    left: { owner: { id: 1 } },
    undeclared: ["owner.hash", "at"],
  },
  "of each item of a list, also of a list of lists": {
    schema: { type: "array", items: { type: "array", items: ID } },
    value: [[{ id: 1 }], [{ id: 2, hash: 3 }, 4]],
    left: [[{ id: 1 }], [{ id: 2 }, 4]],
    undeclared: ["1.0.hash"],
  },
  "of the items of a tuple and of those after it": {
    schema: { type: "array", prefixItems: [ID, NAME], items: ID },
    value: [
      { id: 1, name: "" },
      { name: "", id: 1 },
      { id: 1, name: "" },
    ],
    left: [{ id: 1 }, { name: "" }, { id: 1 }],
    undeclared: ["0.name", "1.id", "2.name"],
  },
  "of the values of a record": {
    schema: { type: "object", additionalProperties: ID },
    value: { a: { id: 1, hash: 2 } },
    left: { a: { id: 1 } },
    undeclared: ["a.hash"],
  },
  "of the other members where the schema has names too": {
    schema: { ...ID, additionalProperties: NAME },
    value: { id: 1, other: { name: "", hash: 2 } },
    left: { id: 1, other: { name: "" } },
    undeclared: ["other.hash"],
  },
  "of nothing where the schema takes all others": {
    schema: { ...ID, additionalProperties: true },
    value: { id: 1, other: { hash: 2 } },
    left: { id: 1, other: { hash: 2 } },
    undeclared: [],
  },
  "of nothing where the schema names no members": {
    schema: { type: "object" },
    value: { any: { thing: 1 } },
    left: { any: { thing: 1 } },
    undeclared: [],
  },
  "by patterns of names": {
    schema: patterns,
    value: { "x-a": { id: 1, hash: 2 }, other: { hash: 3 } },
    left: { "x-a": { id: 1 }, other: { hash: 3 } },
    undeclared: ["x-a.hash"],
  },
  "by patterns of names beside names": {
    schema: { ...patterns, ...ID },
    value: { id: 1, "x-a": { id: 1 }, y: 2 },
    left: { id: 1, "x-a": { id: 1 } },
    undeclared: ["y"],
  },
  "of a schema that contains itself": {
    schema: tree,
    value: { value: 1, children: [{ value: 2, children: [{ value: 3, hash: 4 }] }] },
    left: { value: 1, children: [{ value: 2, children: [{ value: 3 }] }] },
    undeclared: ["children.0.children.0.hash"],
  },
  "of the alternative whose constant the value has": {
    schema: kinds,
    value: { kind: "dog", dog: 1, cat: 2 },
    left: { kind: "dog", dog: 1 },
    undeclared: ["cat"],
  },
  "of the alternative whose required members the value has": {
    schema: { anyOf: [NAME, ID] },
    value: { id: 1, other: 2 },
    left: { id: 1 },
    undeclared: ["other"],
  },
  "of all parts together": {
    schema: { allOf: [ID, NAME, { anyOf: [{ type: "object", properties: { at: {} } }] }] },
    value: { id: 1, name: "", at: 2, hash: 3 },
    left: { id: 1, name: "", at: 2 },
    undeclared: ["hash"],
  },
  "of an object that may be null": {
    schema: { anyOf: [{ type: "null" }, ID] },
    value: { id: 1, hash: 2 },
    left: { id: 1 },
    undeclared: ["hash"],
  },
  "named __proto__ or constructor": {
    schema: ID,
    value: JSON.parse('{"id":1,"__proto__":{"a":1},"constructor":2}'),
    left: { id: 1 },
    undeclared: ["__proto__", "constructor"],
  },
};

function listUndeclared(schema: JsonSchema, value: unknown): readonly [left: unknown, undeclared: readonly string[]] {
  const undeclared: string[] = [];
  const left = compileDeclaredMembers(schema)(value, (path) => undeclared.push(path));
  return [left, undeclared];
}

describe("the undeclared members", () => {
  for (const [what, { schema, value, left, undeclared }] of Object.entries(rows))
    it(`are found and left out: ${what}`, () => {
      const before = structuredClone(value);

      expect(listUndeclared(schema, value)).to.deep.equal([left, undeclared]);
      expect(value).to.deep.equal(before);
    });

  it("are none of a value that is no object", () => {
    for (const value of [null, 7, "text", undefined, true])
      expect(listUndeclared({ anyOf: [{ type: "null" }, ID] }, value)).to.deep.equal([value, []]);
  });

  it("are none of a value that becomes another one in JSON", () => {
    const at = new Date(0);

    expect(listUndeclared(ID, at)).to.deep.equal([at, []]);
    expect(listUndeclared({ type: "object", additionalProperties: ID }, at)).to.deep.equal([at, []]);
  });

  it("are those of a schema of zod, with its unions, records, and types that contain themselves", () => {
    const Node = z.object({
      id: z.int(),
      get next() {
        return Node.nullable();
      },
    });
    const schema = readJsonSchema(
      z.object({
        node: Node,
        byName: z.record(z.string(), z.object({ id: z.int() })),
        pair: z.tuple([z.object({ id: z.int() }), z.string()]),
        either: z.discriminatedUnion("kind", [
          z.object({ kind: z.literal("a"), a: z.int() }),
          z.object({ kind: z.literal("b"), b: z.int() }),
        ]),
        both: z.intersection(z.object({ x: z.int() }), z.object({ y: z.int() })),
        open: z.looseObject({ id: z.int() }),
      }),
      "input",
    );
    if (schema instanceof NoJsonSchema) throw new Error(schema.reason);
    const value = {
      node: { id: 1, next: { id: 2, next: null, hash: 1 } },
      byName: { ada: { id: 1, hash: 1 } },
      pair: [{ id: 1, hash: 1 }, "x"],
      either: { kind: "b", b: 1, a: 1 },
      both: { x: 1, y: 2, hash: 1 },
      open: { id: 1, more: 1 },
    };

    expect(listUndeclared(schema, value)[1]).to.deep.equal([
      "node.next.hash",
      "byName.ada.hash",
      "pair.0.hash",
      "either.a",
      "both.hash",
    ]);
  });
});
