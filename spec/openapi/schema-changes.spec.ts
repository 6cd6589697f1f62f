/** The differences between the schemas, the security and the contents of two documents, which may come from another program. */

import { checkOpenApi } from "@stagecraft/framework/openapi";
import { expect } from "chai";

/** The document of one operation. */
function documentOf(operation: object, components: object = {}, method = "get"): object {
  return { paths: { "/notes": { [method]: { operationId: "notes", ...operation } } }, components };
}

const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
const sent = (schema: unknown, components?: object) =>
  documentOf({ requestBody: { required: true, ...json(schema) } }, components);
const received = (schema: unknown, components?: object) => documentOf({ responses: { 200: json(schema) } }, components);

/** The changes as `kind place`, and `kind! place` for a breaking one. */
function changesOf(before: object, after: object): readonly string[] {
  return checkOpenApi({ openapi: "3.1.1", ...before }, { openapi: "3.1.1", ...after }).map(
    ({ kind, isBreaking, where }) => {
      const place = where.replace(/^[A-Z]+ \/notes(?:, (?:body|200))?/, "");
      return `${kind}${isBreaking ? "!" : ""}${place}`;
    },
  );
}

const text = { type: "string" };
const integer = { type: "integer" };
const object = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});
const list = (more: object = {}) => ({ type: "array", ...more });
const either = (...anyOf: readonly unknown[]) => ({ anyOf });
const none = { type: "null" };

/** A change that breaks a client that sends the value, one that receives it, both or none. */
const SCHEMAS: readonly (readonly [
  title: string,
  before: unknown,
  after: unknown,
  sent: readonly string[],
  received: readonly string[],
])[] = [
  ["alternatives in another order", either(text, integer), either(integer, text), [], []],
  ["alternatives for any value", {}, either(text, integer), ["alternatives-changed!"], ["alternatives-changed"]],
  ["any value for alternatives", either(text, integer), {}, ["alternatives-changed"], ["alternatives-changed!"]],
  [
    "an alternative beside the one schema",
    object({ a: text }),
    { oneOf: [object({ a: text }), none] },
    ["alternatives-changed"],
    ["alternatives-changed!"],
  ],
  [
    "a changed alternative beside a new one",
    either(object({ a: text }), integer),
    either(integer, object({ a: text, b: text }), none),
    ["member-added!.b", "alternatives-changed"],
    ["member-added.b", "alternatives-changed!"],
  ],
  [
    "an alternative that its discriminator names",
    either(object({ kind: { const: "a" }, n: text }), object({ kind: { const: "b" } })),
    either(object({ kind: { const: "b" } }), object({ kind: { const: "a" }, n: integer })),
    ["type-changed!.n"],
    ["type-changed!.n"],
  ],
  ["a null beside a list of types", { type: ["string", "null"] }, either(text, none), [], []],
  [
    "an object in two parts",
    object({ a: text, b: text }),
    { allOf: [object({ a: text }), object({ b: text })] },
    [],
    [],
  ],
  [
    "a member in a part of an object",
    object({ a: text }),
    { allOf: [object({ a: text }), object({ c: text })] },
    ["member-added!.c"],
    ["member-added.c"],
  ],
  [
    "the type of an item of a tuple",
    list({ prefixItems: [text] }),
    list({ prefixItems: [integer] }),
    ["type-changed!.0"],
    ["type-changed!.0"],
  ],
  ["items of any type", list({ items: text }), list(), ["type-changed.0"], ["type-changed!.0"]],
  [
    "no further members",
    object({ a: text }),
    object({ a: text }, { additionalProperties: false }),
    ["limit-changed!"],
    ["limit-changed"],
  ],
  [
    "a type of further members",
    { type: "object", additionalProperties: text },
    { type: "object", additionalProperties: integer },
    ["type-changed!.*"],
    ["type-changed!.*"],
  ],
  [
    "a name of further members less",
    { type: "object", propertyNames: { enum: ["a", "b"] } },
    { type: "object", propertyNames: { enum: ["a"] } },
    ["values-changed!.*"],
    ["values-changed.*"],
  ],
  [
    "a required name of further members",
    { type: "object", additionalProperties: text },
    { type: "object", additionalProperties: text, required: ["a"] },
    ["member-required!.a"],
    ["member-required.a"],
  ],
  [
    "members by their pattern",
    { type: "object", patternProperties: { "^x-": text } },
    { type: "object", patternProperties: { "^x-": integer } },
    ["type-changed!.^x-"],
    ["type-changed!.^x-"],
  ],
  [
    "the content of a text",
    { ...text, contentSchema: object({ a: text }) },
    { ...text, contentSchema: object({}) },
    ["member-removed.a"],
    ["member-removed!.a"],
  ],
  ["no value", text, false, ["type-changed!"], ["type-changed"]],
  ["a condition", text, { ...text, not: { const: "a" } }, ["alternatives-changed!"], ["alternatives-changed!"]],
  ["a format more", text, { ...text, format: "uuid" }, ["limit-changed!"], ["limit-changed"]],
  ["a format less", { ...text, format: "date-time" }, text, ["limit-changed"], ["limit-changed!"]],
  ["items that differ", list(), list({ uniqueItems: true }), ["limit-changed!"], ["limit-changed"]],
  ["another default", { ...integer, default: 1 }, { ...integer, default: 2 }, ["default-changed"], ["default-changed"]],
  ["values without their type", { ...text, enum: ["a"] }, { enum: ["a"] }, [], []],
  [
    "a missing member with the name of a method",
    object({ constructor: text }),
    object({}),
    ["member-removed.constructor"],
    ["member-removed!.constructor"],
  ],
  [
    "a new member with the name of a method",
    object({}),
    object({ toString: text }),
    ["member-added!.toString"],
    ["member-added.toString"],
  ],
];

describe("the check of two schemas", () => {
  for (const [title, before, after, changes, changesOfResponse] of SCHEMAS)
    it(`tells of ${title}`, () => {
      expect(changesOf(sent(before), sent(after))).to.deep.equal(changes);
      expect(changesOf(received(before), received(after))).to.deep.equal(changesOfResponse);
    });

  it("reads a reference and the schema itself alike, with the members beside the reference", () => {
    const schemas = { "a/b%": object({ a: text }) };
    const reference = { $ref: "#/components/schemas/a~1b%", description: "A note." };

    expect(changesOf(sent(reference, { schemas }), sent(object({ a: text })))).to.deep.equal([]);
    expect(changesOf(sent(reference, { schemas }), sent(object({ a: integer })))).to.deep.equal(["type-changed!.a"]);
    expect(changesOf(sent({ $ref: "#/none" }), sent({}))).to.deep.equal([]);
  });

  it("compares schemas that contain themselves twice, each once", () => {
    const [before, after] = [text, integer].map((value) => {
      const tree = { $ref: "#/components/schemas/Tree" };
      return received(tree, { schemas: { Tree: object({ value, left: tree, right: list({ items: tree }) }) } });
    });

    expect(changesOf(before ?? {}, after ?? {})).to.deep.equal(["type-changed!.value"]);
  });

  it("finds a change at any depth", () => {
    const nest = (schema: object, depth: number): object =>
      depth === 0 ? schema : nest(object({ a: schema }), depth - 1);

    expect(changesOf(sent(nest(text, 40)), sent(nest(integer, 40)))).to.have.lengthOf(1);
  });
});

const SCHEMES = { bearer: { type: "http", scheme: "bearer" }, session: { type: "apiKey", in: "cookie", name: "s" } };
const secured = (security?: readonly object[], securitySchemes: object = SCHEMES) =>
  documentOf({ ...(security !== undefined && { security }) }, { securitySchemes });
const bearer = { bearer: [] };
const session = { session: [] };

const PARTS: readonly (readonly [title: string, before: object, after: object, changes: readonly string[]])[] = [
  ["another order of requirements", secured([bearer, session]), secured([session, bearer]), []],
  ["a further requirement", secured([bearer]), secured([bearer, session]), ["security-changed"]],
  ["a missing requirement", secured([bearer, session]), secured([bearer]), ["security-changed!"]],
  ["a second scheme of a requirement", secured([bearer]), secured([{ ...bearer, ...session }]), ["security-changed!"]],
  ["a requirement for everybody", secured([bearer]), secured([{}, bearer]), ["security-changed"]],
  ["no requirement for everybody", secured([{}, bearer]), secured([bearer]), ["security-changed!"]],
  ["an empty requirement", secured([]), secured([{}]), []],
  ["another scope", secured([{ bearer: ["a"] }]), secured([{ bearer: ["a", "b"] }]), ["security-changed!"]],
  [
    "another definition of a scheme",
    secured([bearer]),
    secured([bearer], { bearer: SCHEMES.session }),
    ["security-changed!"],
  ],
  ["security of the document", secured(), { ...secured(), security: [bearer] }, ["security-changed!"]],
  [
    "a body that became required",
    documentOf({ requestBody: json(text) }),
    documentOf({ requestBody: { required: true, ...json(text) } }),
    ["request-body-changed!"],
  ],
  [
    "a media type in other letters",
    documentOf({ requestBody: { content: { "Text/Plain": {} } } }),
    documentOf({ requestBody: { content: { "text/plain": {} } } }),
    [],
  ],
  [
    "a media type of a file less",
    documentOf({ requestBody: { content: { a: { encoding: { photo: { contentType: "image/*, text/csv" } } } } } }),
    documentOf({ requestBody: { content: { a: { encoding: { photo: { contentType: "image/png, text/csv" } } } } } }),
    ["limit-changed!.photo"],
  ],
  [
    "a missing header of a response",
    documentOf({ responses: { 200: { headers: { Location: { required: true } } } } }),
    documentOf({ responses: { 200: {} } }),
    ["response-removed!"],
  ],
  [
    "the style of a parameter",
    documentOf({ parameters: [{ in: "query", name: "a", style: "deepObject", explode: true }] }),
    documentOf({ parameters: [{ in: "query", name: "a" }] }),
    ["parameter-changed!, query a"],
  ],
  [
    "a header in other letters",
    documentOf({ parameters: [{ in: "header", name: "X-Trace", schema: text }] }),
    documentOf({ parameters: [{ in: "header", name: "x-trace", schema: text }] }),
    [],
  ],
  ["a sunset", documentOf({}), documentOf({ "x-sunset": "2027-01-01" }), ["operation-deprecated"]],
  ["QUERY in both of its places", documentOf({}, {}, "x-query"), documentOf({}, {}, "query"), []],
  [
    "a stream in both of its forms",
    documentOf({ responses: { 200: { content: { s: { schema: text, "x-item-schema": object({ a: text }) } } } } }),
    documentOf({ responses: { 200: { content: { s: { itemSchema: object({ a: integer }) } } } } }),
    ["type-changed!.a"],
  ],
  [
    "a parameter of all operations of a path",
    { paths: { "/notes": { parameters: [{ in: "query", name: "a", schema: text }], get: { operationId: "a" } } } },
    { paths: { "/notes": { get: { operationId: "a", parameters: [{ in: "query", name: "a", schema: integer }] } } } },
    ["type-changed!, query a"],
  ],
];

describe("the check of two operations", () => {
  for (const [title, before, after, changes] of PARTS)
    it(`tells of ${title}`, () => {
      expect(changesOf(before, after)).to.deep.equal(changes);
    });
});
