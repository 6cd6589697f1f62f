/**
 * A schema has one side in a document: its input, which a client sends, and which a handler returns and the framework sends. Each kind of
 * schema whose output differs stands here in a request and in a response.
 */
import { Application, Post, Route, Routes, type Schema } from "@stagecraft/framework";
import { createOpenApi, type JsonObject } from "@stagecraft/framework/openapi";
import { testApp } from "@stagecraft/framework/testing";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { createResponseJudge } from "../support/response-judge.js";

const TIME = "2026-11-01T12:00:00Z";
const dated = z.coerce.date().meta({ type: "string", format: "date-time" });
const codec = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** The schema, a value that a client sends and a handler returns, and the schema of its member in the document. */
const KINDS: readonly (readonly [kind: string, schema: Schema, value: object, member: object])[] = [
  ["a default", z.object({ a: z.string().default("x") }), {}, { type: "string", default: "x" }],
  ["a prefault", z.object({ a: z.string().prefault("x") }), {}, { type: "string", default: "x" }],
  ["an optional member", z.object({ a: z.string().optional() }), {}, { type: "string" }],
  ["a nullable member", z.object({ a: z.string().nullable() }), { a: null }, { type: ["string", "null"] }],
  ["a transform", z.object({ a: z.string().transform((text) => text.length) }), { a: "tea" }, { type: "string" }],
  ["a pipe", z.object({ a: z.string().transform(Number).pipe(z.number()) }), { a: "7" }, { type: "string" }],
  ["a text for a boolean", z.object({ a: z.stringbool() }), { a: "yes" }, { type: "string" }],
  ["a codec of a date", z.object({ a: codec }), { a: TIME }, { type: "string", format: "date-time" }],
  ["a coerced date", z.object({ a: dated }), { a: TIME }, { type: "string", format: "date-time" }],
  ["a coerced number", z.object({ a: z.coerce.number() }), { a: 7 }, { type: "number" }],
  ["a value for a fault", z.object({ a: z.string().catch("x") }), { a: "tea" }, { type: "string", default: "x" }],
  ["a preprocessed value", z.object({ a: z.preprocess(Number, z.number()) }), { a: 7 }, { type: "number" }],
  ["a read-only list", z.object({ a: z.array(z.string()).readonly() }).readonly(), { a: ["tea"] }, { type: "array" }],
  [
    "a default of valibot",
    toStandardJsonSchema(v.object({ a: v.optional(v.string(), "x") })),
    {},
    { type: "string", default: "x" },
  ],
  ["a default of arktype", type({ a: "string = 'x'" }), {}, { type: "string" }],
];

describe("a schema in a request and in a response", () => {
  for (const [kind, schema, value, member] of KINDS)
    it(`has one form in the document, which both are valid by: ${kind}`, async () => {
      const exchange = Post("/exchange", { name: "exchange", body: schema, responses: { 200: schema } });
      await using app = await testApp(
        Application.create().routes(new Routes([Route.of(exchange, () => value as never)])),
      );
      const document = createOpenApi(app.application);

      const response = await app.post("/exchange", { json: value });

      const text = await response.text();
      const { status, headers } = response;
      const judged = { method: "POST", path: "/exchange", status, headers, text };
      const { requestBody, responses } = Object(document.paths["/exchange"]?.["post"]) as Readonly<
        Record<string, object>
      >;
      const [sent, received] = [requestBody, Reflect.get(Object(responses), "200")].map(readSchema);
      expect(response.status, text).to.equal(200);
      expect(JSON.parse(text)).to.deep.equal(value);
      expect(createResponseJudge(document)(judged)).to.equal(undefined);
      expect(sent).to.deep.equal(received);
      expect(Object(sent?.["properties"])).to.have.property("a").that.deep.includes(member);
      expect(JSON.stringify(document)).to.not.include("readOnly");
      expect(judgeBody(sent ?? {}, value)).to.equal(true);
    });

  it("keeps `readOnly` where the schema states it", () => {
    const schema = z.object({ id: z.int().optional().meta({ readOnly: true }) }).readonly();
    const exchange = Post("/exchange", { body: schema });
    const { paths } = createOpenApi(new Routes([Route.of(exchange, () => undefined)]));
    const body = readSchema(Reflect.get(Object(paths["/exchange"]?.["post"]), "requestBody"));

    expect(body).to.not.have.property("readOnly");
    expect(Object(body["properties"])).to.have.property("id").that.includes({ readOnly: true });
  });
});

/** The schema of JSON in a body of a document. */
function readSchema(body: unknown): JsonObject {
  const json: unknown = Reflect.get(Object(Reflect.get(Object(body), "content")), "application/json");
  return Reflect.get(Object(json), "schema") as JsonObject;
}

function judgeBody(schema: JsonObject, value: object): boolean {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  return ajv.validate(schema, value);
}
