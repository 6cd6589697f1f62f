/** The JSON Schema of schemas of several libraries, and of those that have none: a pure function, and the warning of the start. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { Application, Get, Route, Routes, type Schema } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { findFormChange, NoJsonSchema, readJsonSchema, type SchemaSide } from "../../lib/contracts/json-schema.js";

function createSchema(jsonSchema: unknown): Schema {
  // A library may lack the member, or throw.
  const standard = { version: 1, vendor: "spec", validate: (value: unknown) => ({ value }), jsonSchema };
  return { "~standard": standard as Schema["~standard"] };
}

const read = (schema: Schema, side: SchemaSide = "input"): unknown => {
  const found = readJsonSchema(schema, side);
  return found instanceof NoJsonSchema ? found.reason : found.type;
};

const fail = (thrown: unknown) => (): never => {
  throw thrown;
};

function findChange(schema: Schema): string | undefined {
  const input = readJsonSchema(schema, "input");
  if (input instanceof NoJsonSchema) throw new Error(input.reason);
  return findFormChange(input, readJsonSchema(schema, "output"));
}

describe("the JSON Schema of a schema", () => {
  it("is that of zod, arktype, and valibot with its wrapper", () => {
    expect(read(z.object({ id: z.int() }))).to.equal("object");
    expect(read(type({ id: "number" }))).to.equal("object");
    expect(read(toStandardJsonSchema(v.object({ id: v.number() })))).to.equal("object");
  });

  it("is none of plain valibot", () => {
    const reason = "the schema library gives none";

    expect(read(v.object({ id: v.number() }))).to.equal(reason);
    expect(read(createSchema({ input: 7 }))).to.equal(reason);
  });

  it("is none where the library throws, with its message", () => {
    expect(read(z.object({ at: z.date() }))).to.match(/Date cannot be represented/);
    expect(read(createSchema({ input: fail(new Error("no")), output: fail("no") }))).to.equal("no");
    expect(read(createSchema({ input: fail("no"), output: fail("no") }))).to.equal("the schema library throws");
  });

  it("has two sides, which differ by a transform and not by a default", () => {
    expect(findChange(z.object({ page: z.int().default(1) }))).to.equal(undefined);
    expect(
      findChange(
        z.object({
          list: z.array(z.object({ n: z.codec(z.string(), z.number(), { decode: Number, encode: String }) })),
        }),
      ),
    ).to.equal("list.0.n");
    expect(findChange(z.object({ n: z.string().transform(Number) }))).to.match(/^a transform: /);
  });

  it("is missed in a warning of the start that names the route, the part and the cure", async () => {
    const query = v.object({ page: v.optional(v.string()) });
    const routes = new Routes([Route.of(Get("/x", { query, responses: { 200: query } }), ({ input }) => input.query)]);
    await using app = await testApp(Application.create().routes(routes));

    const warnings = app.logs.lines().filter((line) => line.includes("no JSON Schema"));

    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.contain("its values stay texts").and.contain("toStandardJsonSchema").and.contain("GET /x");
    expect(warnings[1]).to.contain("undeclared members of the response are not found").and.contain("responses.200");
    expect(await (await app.get("/x?page=2")).json()).to.deep.equal({ page: "2" });
  });
});
