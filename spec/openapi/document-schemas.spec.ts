/** Schemas of several libraries in an OpenAPI document: those that it cannot have, computed defaults, and names that objects inherit. */

import { Any, Get, Post, Query, Route, Routes, type Schema, withJsonSchema } from "@stagecraft/framework";
import { createOpenApi, type OpenApiDocument } from "@stagecraft/framework/openapi";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { startupErrorOf } from "../support/startup-error-of.js";

function documentOf(...endpoints: readonly object[]): OpenApiDocument {
  return createOpenApi(
    new Routes(endpoints.map((endpoint) => Route.of(endpoint as ReturnType<typeof Get>, () => undefined))),
  );
}

const received = (schema: Schema) => Get("/value", { name: "value", responses: { 200: schema } });

/** The JSON Schema in the document. */
function schemaOf(schema: Schema): unknown {
  const { paths } = documentOf(received(schema));
  const names = ["get", "responses", "200", "content", "application/json", "schema"];
  return names.reduce((found: unknown, name) => Reflect.get(Object(found), name), paths["/value"]);
}

function faultOf(schema: Schema): string {
  const { diagnostics } = startupErrorOf(() => documentOf(received(schema)));
  expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_OPENAPI_SCHEMA"]);
  return diagnostics[0]?.what ?? "";
}

/** A schema of a library whose JSON Schema is the result. */
function schemaWith(input: () => unknown): Schema {
  const standard = {
    version: 1,
    vendor: "other",
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input, output: input },
  } as const;
  return { "~standard": standard };
}

describe("a schema without a JSON Schema", () => {
  for (const [name, schema, reason] of [
    ["a date of arktype", type("Date"), "a date of arktype"],
    ["a member of arktype", type({ at: "bigint" }), "a domain of arktype"],
    ["a map of zod", z.map(z.string(), z.int()), "Map cannot be represented"],
    ["a schema that throws", schemaWith(() => expect.fail("no such schema")), "no such schema"],
    ["a result that is no object", schemaWith(() => undefined), "gives undefined"],
    ["a value that is no JSON", schemaWith(() => ({ default: 1n })), "BigInt"],
    ["a reference to nothing", schemaWith(() => ({ $ref: "#/$defs/None" })), "it has no place #/$defs/None"],
    ["a reference to an anchor", schemaWith(() => ({ items: { $ref: "#node" } })), "it has no place #node"],
    ["a reference with a wrong escape", schemaWith(() => ({ $ref: "#/$defs/%E0%A4%A" })), "#/$defs/%E0%A4%A"],
  ] as const)
    it(`is ${name}`, () => {
      expect(faultOf(schema)).to.include(reason);
    });

  it("is an object that contains itself, or that is too deep to write", () => {
    const circular: Record<string, unknown> = {};
    circular["items"] = circular;
    let deep: object = {};
    for (let depth = 0; depth < 20_000; depth++) deep = { items: deep };

    expect(faultOf(schemaWith(() => circular))).to.include("circular");
    expect(faultOf(schemaWith(() => deep))).to.include("call stack");
  });

  it("is not a part of arktype that narrows another one", () => {
    const even = type({ count: type("number.integer").narrow((value) => value % 2 === 0), "note?": "unknown" });

    expect(schemaOf(even)).to.deep.include({ properties: { count: { type: "integer" }, note: {} } });
  });
});

describe("the defaults of a schema", () => {
  let count = 0;

  it("are left out where a function computes them, so that a document stays the same", () => {
    const Order = z.object({
      id: z.uuid().default(() => `00000000-0000-4000-8000-${String(count++).padStart(12, "0")}`),
      at: z.iso.datetime().default(() => new Date().toISOString()),
      size: z.int().default(1),
      default: z.object({ tags: z.array(z.string().default(() => `${count++}`)).default(["a"]) }),
    });
    const member = schemaOf(Order) as { readonly properties: Readonly<Record<string, object>> };

    expect(member.properties["id"]).to.not.have.property("default");
    expect(member.properties["at"]).to.not.have.property("default");
    expect(member.properties["size"]).to.have.property("default", 1);
    expect(JSON.stringify(member.properties["default"])).to.equal(
      '{"type":"object","properties":{"tags":{"default":["a"],"type":"array","items":{"type":"string"}}}}',
    );
    expect(JSON.stringify(schemaOf(Order))).to.equal(JSON.stringify(member));
  });

  it("are left out of a schema of valibot too", () => {
    const schema = toStandardJsonSchema(v.object({ id: v.optional(v.string(), () => `${count++}`) }));

    expect(schemaOf(schema)).to.deep.include({ properties: { id: { type: "string" } } });
  });
});

describe("a schema of an OpenAPI document", () => {
  it("is not readOnly because its value is readonly in TypeScript", () => {
    const schema = z.object({
      tags: z.array(z.string()).readonly().optional(),
      id: z.int32().meta({ readOnly: true }),
    });

    expect(JSON.stringify(schemaOf(schema.readonly()))).to.not.include('"readOnly":true,"type":"array"');
    expect(schemaOf(schema.readonly())).to.not.have.property("readOnly");
    expect(schemaOf(schema)).to.have.nested.property("properties.id.readOnly", true);
  });

  it("may have names that every object inherits", () => {
    const path = Get("/{constructor}/{toString}", {
      name: "value",
      params: { toString: z.int32() },
      responses: { 200: z.object({ valueOf: z.string() }).meta({ id: "__proto__" }) },
    });
    const { paths, components } = documentOf(path);
    const [item] = Object.values(paths);

    expect(Object.keys(components.schemas)).to.include("__proto__");
    expect(JSON.stringify(item)).to.include(
      '{"name":"constructor","in":"path","required":true,"schema":{"type":"string"}}',
    );
  });

  it("has the name of its place in the characters of components, where it contains itself", () => {
    const Tree = z.object({
      get parts() {
        return z.array(Tree);
      },
    });
    const show = Get("/tree", { name: "a b/größe", responses: { 200: Tree, 201: z.object({ tree: Tree }) } });

    expect(Object.keys(documentOf(show).components.schemas)).to.deep.equal([
      "Problem",
      "a-b-gr--e.200",
      "a-b-gr--e.201.1",
    ]);
  });

  it("may refer to any place of itself", () => {
    const given = { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/anyOf/0" } }] } as const;

    expect(schemaOf(withJsonSchema(z.any(), given))).to.deep.equal({ $ref: "#/components/schemas/value.200" });
  });
});

describe("the id of an operation", () => {
  const responses = { responses: { 200: z.string() } };

  for (const [name, endpoints, id] of [
    ["a capture and a literal", [Get("/notes/{id}", responses), Get("/notes/id", responses)], "get.notes.id"],
    [
      "a method of a route for any method",
      [Any("/any", { name: "any", ...responses }), Get("/other", { name: "any.put", ...responses })],
      "any.put",
    ],
    [
      "the POST of a QUERY",
      [
        Query("/find", { name: "find", body: z.string(), ...responses }).orPost(),
        Post("/other", { name: "find.post", ...responses }),
      ],
      "find.post",
    ],
  ] as const)
    it(`is a fault where another operation has it: ${name}`, () => {
      const { diagnostics } = startupErrorOf(() => documentOf(...endpoints));

      expect(diagnostics.map(({ code, what }) => [code, what])).to.deep.equal([
        ["E_OPENAPI_OPERATION", `two operations of the API document have the id "${id}"`],
      ]);
    });
});
