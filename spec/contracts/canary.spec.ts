/** A secret that a schema refuses, or that its library quotes: it is in no response, no log line, no span and no metric. */
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { Application, ConflictError, Get, Post, Route, Routes, type Schema } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe/metrics";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { withObservability } from "../support/with-observability.js";

const CANARY = "Corr3ctHorseBattery";
/** A part of the secret is as bad, in any letter case. */
const PART = "3cthorse";

const secret = { secret: CANARY };
const nested = { list: [{ deep: { secret: CANARY } }] };
const named = { [CANARY]: "x", other: 1 };

function parse(text: string): unknown {
  return JSON.parse(text);
}

function failWith(text: string): never {
  throw new TypeError(`cannot use ${text}\n    at ${text}`);
}

const quotingZod = (quote: (input: string) => string): Schema =>
  z.object({ secret: z.string().refine(() => false, { error: ({ input }) => quote(String(input)) }) });

type Row = readonly [what: string, schema: Schema, body: object, status?: number];

const ZOD: readonly Row[] = [
  ["a literal", z.object({ secret: z.literal("a") }), secret],
  ["an enumeration", z.object({ secret: z.enum(["a", "b"]) }), secret],
  ["a union", z.object({ secret: z.union([z.literal("a"), z.number(), z.object({})]) }), secret],
  ["a union of objects", z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") })]), { kind: CANARY }],
  ["a message with the value", quotingZod((input) => `not ${input}`), secret],
  ["a message in another case", quotingZod((input) => `not ${input.toUpperCase()}`), secret],
  ["a message with a part of the value", quotingZod((input) => `no value near "${input.slice(4, 12)}"`), secret],
  ["a message of an object", z.object({}).refine(() => false, { error: () => JSON.stringify(secret) }), secret],
  ["a nested value", z.object({ list: z.array(z.object({ deep: quotingZod(String) as z.ZodType })) }), nested],
  ["an undeclared member", z.strictObject({ other: z.number() }), named],
  ["a record of numbers", z.record(z.string(), z.number()), named],
  ["a record with short names", z.record(z.string().max(9), z.unknown()), named],
  [
    "the message of a parser",
    z.object({
      secret: z.string().transform((text, ctx) => {
        try {
          return parse(text);
        } catch (error) {
          ctx.addIssue({ code: "custom", message: String(error) });
          return z.NEVER;
        }
      }),
    }),
    secret,
  ],
  ["a transform that throws", z.object({ secret: z.string().transform(failWith) }), secret, 500],
  ["a transform that rejects", z.object({ secret: z.string().transform(async (text) => failWith(text)) }), secret, 500],
];

const VALIBOT: readonly Row[] = [
  ["a literal", v.object({ secret: v.literal("a") }), secret],
  ["an enumeration", v.object({ secret: v.picklist(["a", "b"]) }), secret],
  ["a union", v.object({ secret: v.union([v.literal("a"), v.number()]) }), secret],
  ["a union of objects", v.variant("kind", [v.object({ kind: v.literal("a") })]), { kind: CANARY }],
  ["a number", v.object({ secret: v.number() }), secret],
  [
    "a message with the value",
    v.object({
      secret: v.pipe(
        v.string(),
        v.check(
          () => false,
          (issue) => `not ${issue.input}`,
        ),
      ),
    }),
    secret,
  ],
  ["a nested value", v.object({ list: v.array(v.object({ deep: v.object({ secret: v.boolean() }) })) }), nested],
  ["an undeclared member", v.strictObject({ other: v.number() }), named],
  ["a record of numbers", v.record(v.string(), v.number()), named],
  ["a record with short names", v.record(v.pipe(v.string(), v.maxLength(9)), v.unknown()), named],
  ["a transform that throws", v.object({ secret: v.pipe(v.string(), v.transform(failWith)) }), secret, 500],
];

const ARKTYPE: readonly Row[] = [
  ["a literal", type({ secret: "'a'" }), secret],
  ["an enumeration", type({ secret: "'a' | 'b'" }), secret],
  ["a union", type({ secret: "'a' | number" }), secret],
  ["a union of objects", type({ kind: "'a'" }).or({ kind: "'b'", other: "number" }), { kind: CANARY }],
  ["a number", type({ secret: "number" }), secret],
  ["a message with the value", type({ secret: type.string.narrow((text, ctx) => ctx.mustBe(`not ${text}`)) }), secret],
  ["a nested value", type({ list: type({ deep: { secret: "boolean" } }).array() }), nested],
  ["an undeclared member", type({ "+": "reject", other: "number" }), named],
  ["a record of numbers", type({ "[string]": "number" }), named],
  ["a transform that throws", type({ secret: type.string.pipe((text) => failWith(text)) }), secret, 500],
];

/** The texts of an application that outlive the request. */
function listTraces(app: TestApp): string {
  const texts = [...app.logs.lines(), ...app.captured.spans.texts(), app.resolve(Metrics).render()];
  return texts.join("\n").toLowerCase();
}

async function startWith(route: Route): Promise<TestApp> {
  return testApp(withObservability(Application.create()).routes(new Routes([route])));
}

function startWithBody(body: Schema): Promise<TestApp> {
  return startWith(Route.of(Post("/x", { body }), () => "handled"));
}

/** The faults of a response without the names of their paths, which the client may have chosen, and all other members. */
async function listTexts(response: Response): Promise<string> {
  const { errors = {}, ...others } = (await response.json()) as { readonly errors?: Readonly<Record<string, unknown>> };
  const faults = Object.entries(errors).map(([path, each]) =>
    path.split(".").reduce((text, name) => text.replaceAll(name, ""), JSON.stringify(each)),
  );
  return JSON.stringify([faults, others]).toLowerCase();
}

describe("a secret in the body is not shown by", () => {
  for (const [library, rows] of Object.entries({ zod: ZOD, valibot: VALIBOT, arktype: ARKTYPE }))
    for (const [what, schema, body, status = 422] of rows)
      it(`${what} of ${library}`, async () => {
        await using app = await startWithBody(schema);

        const response = await app.post("/x", { json: body });

        expect(response.status).to.equal(status);
        expect(await listTexts(response)).not.to.include(PART);
        expect(listTraces(app)).to.include("/x").and.not.include(PART);
      });
});

describe("a secret in a text is not shown by", () => {
  const parts: Readonly<Record<string, [Route, string, Readonly<Record<string, string>>]>> = {
    "a query": [
      Route.of(Get("/x", { query: z.strictObject({ n: z.int() }) }), () => "handled"),
      `/x?n=${CANARY}&${CANARY}=1`,
      {},
    ],
    "a query without a JSON Schema": [
      Route.of(Get("/x", { query: v.object({ n: v.number() }) }), () => "handled"),
      `/x?n=${CANARY}`,
      {},
    ],
    "a header": [Route.of(Get("/x", { headers: type({ "x-n": "number" }) }), () => "handled"), "/x", { "x-n": CANARY }],
  };
  for (const [what, [route, path, headers]] of Object.entries(parts))
    it(what, async () => {
      await using app = await startWith(route);

      const response = await app.get(path, { headers });

      expect(response.status).to.equal(422);
      expect(await listTexts(response)).not.to.include(PART);
      expect(listTraces(app)).to.include("/x").and.not.include(PART);
    });
});

describe("a secret in the value of a handler is not shown by", () => {
  const rows: readonly (readonly [what: string, schema: Schema, value: unknown, says: string])[] = [
    ["a schema of zod", z.object({ secret: z.enum(["a"]) }), secret, "refuses at secret"],
    ["a schema of valibot", v.object({ secret: v.number() }), secret, "refuses at secret"],
    ["a schema of arktype", type({ secret: "number" }), secret, "refuses at secret"],
    ["a schema that throws", z.object({ secret: z.string().refine(failWith) }), secret, "the response 200 threw"],
    ["the undeclared member", z.object({ id: z.number() }), { id: 1, ...secret }, "the undeclared member secret"],
  ];
  for (const [what, schema, value, says] of rows)
    it(what, async () => {
      await using app = await startWith(Route.of(Get("/x", { responses: { 200: schema } }), () => value));

      const response = await app.get("/x");

      expect(response.status).to.equal(500);
      expect(await response.text()).not.to.include(CANARY);
      expect(listTraces(app)).to.include(says).and.not.include(PART);
    });
});

describe("an error that a schema throws", () => {
  it("is logged with its class and its stack, and without its message", async () => {
    const body = z.object({ secret: z.string().refine(failWith) });
    await using app = await startWithBody(body);

    await app.post("/x", { json: secret });

    const [event = ""] = app.logs.lines().filter((line) => line.includes("E_SCHEMA"));
    expect(event).to.match(/the schema of body threw an error of the class TypeError/);
    expect(event).to.match(/"stack":"FrameworkError: [^"]*\\n {4}at (?:Object\.)?failWith [^"]*canary\.spec/);
  });

  it("is the response where it has a status", async () => {
    const body = z.object({ name: z.string().refine(() => Promise.reject(new ConflictError("taken"))) });
    await using app = await startWithBody(body);

    expect((await app.post("/x", { json: { name: "ada" } })).status).to.equal(409);
  });
});

describe("a 422", () => {
  it("has at most 100 faults", async () => {
    await using app = await startWithBody(z.array(z.string()));

    const response = await app.post("/x", { json: Array.from({ length: 10_000 }, (_, at) => at) });
    const { errors } = (await response.json()) as { readonly errors: object };

    expect([response.status, Object.keys(errors).length]).to.deep.equal([422, 100]);
  });

  it("has short paths and messages, whatever the client names its members", async () => {
    const long = "a".repeat(100_000);
    for (const body of [z.record(z.string(), z.number()), z.strictObject({}), type({ "[string]": "number" })]) {
      await using app = await startWithBody(body);

      const response = await app.post("/x", { json: { [long]: "x" } });
      const text = await response.text();

      expect([response.status, text.length < 1000]).to.deep.equal([422, true]);
      expect(listTraces(app)).not.to.include(long.slice(0, 50));
    }
  });

  it("names the members that an object of zod does not declare", async () => {
    await using app = await startWithBody(z.strictObject({ name: z.string() }));

    const response = await app.post("/x", { json: { name: "ada", rank: 1, age: 2 } });
    const { errors } = (await response.json()) as { readonly errors: object };

    expect(Object.keys(errors)).to.deep.equal(["body.rank", "body.age"]);
  });

  it("names in the log the members that a schema declares", async () => {
    await using app = await startWithBody(z.object({ list: z.array(z.record(z.string(), z.int())) }));

    await app.post("/x", { json: { list: [{ hidden: "x" }] } });

    const [line = ""] = app.logs.lines().filter((each) => each.includes("E_VALIDATION"));
    expect(line).to.include("body.list.0.*: invalid_type").and.not.include("hidden");
  });
});
