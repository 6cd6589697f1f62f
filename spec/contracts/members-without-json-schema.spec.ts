/** Schemas in which a member has no JSON Schema, such as a date: their other members hold. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { Application, Get, Route, Routes, type Schema, withJsonSchema } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { findFormChange, NoJsonSchema, readJsonSchema, readKnownParts } from "../../lib/contracts/json-schema.js";

const At = z.object({ at: z.date(), n: z.int() });
const Since = z.object({
  n: z.coerce.number(),
  open: z.coerce.boolean().optional(),
  since: z.coerce.date().optional(),
});

const routes = new Routes([
  Route.of(Get("/query", { query: Since }), ({ input }) => input.query),
  Route.of(Get("/at", { responses: { 200: At } }), () => ({ at: new Date(0), n: 1 })),
  Route.of(Get("/leak", { responses: { 200: At } }), () => {
    const row = { at: new Date(0), n: 1, passwordHash: "canary" };
    return row;
  }),
  Route.of(Get("/listed", { responses: { 200: z.array(At.extend({ at: z.date().nullable() })) } }), () => {
    const row = { at: null, n: 1, passwordHash: "canary" };
    return [row];
  }),
]);

describe("the JSON Schema of a member that withJsonSchema or meta states", () => {
  const stated = { type: "string", format: "date-time" } as const;
  const rows: readonly (readonly [title: string, schema: Schema])[] = [
    ["by withJsonSchema", z.object({ at: withJsonSchema(z.date(), stated) })],
    ["by withJsonSchema around an optional one", z.object({ at: withJsonSchema(z.date().optional(), stated) })],
    ["by meta", z.object({ at: z.date().meta(stated) })],
    ["by meta around an optional one", z.object({ at: z.date().optional().meta(stated) })],
  ];
  for (const [title, schema] of rows)
    it(`is that of the object, ${title}, and the check stays`, async () => {
      expect(readJsonSchema(schema, "input")).to.have.deep.property("properties", { at: stated });
      expect(await schema["~standard"].validate({ at: new Date(0) })).to.deep.equal({ value: { at: new Date(0) } });
      expect(await schema["~standard"].validate({ at: "today" })).to.have.property("issues");
    });

  it("does not state that of its neighbours: the reason names the member", () => {
    const schema = z.object({ at: z.date().meta(stated), inner: z.object({ born: z.date() }) });

    expect(readJsonSchema(schema, "input"))
      .to.be.instanceOf(NoJsonSchema)
      .with.property("reason", "born: Date cannot be represented in JSON Schema");
  });

  it("leaves the schema as it was", () => {
    const date = z.date();
    withJsonSchema(date, stated);

    expect(readJsonSchema(date, "input")).to.be.instanceOf(NoJsonSchema);
  });
});

describe("a schema with a member that has no JSON Schema", () => {
  it("converts the other texts of a query by their types, and guesses nothing", async () => {
    await using app = await testApp(Application.create().routes(routes));
    const read = async (query: string): Promise<unknown> => {
      const response = await app.get(`/query?${query}`);
      return response.status === 200 ? await response.json() : response.status;
    };

    expect(await read("n=1&open=false&since=2020-01-01")).to.deep.equal({
      n: 1,
      open: false,
      since: "2020-01-01T00:00:00.000Z",
    });
    for (const query of ["n=", "n=0x10", "n=%201", "n=1&open=no"]) expect(await read(query), query).to.equal(422);
  });

  it("refuses an undeclared member of a response, and starts without a warning", async () => {
    await using app = await testApp(Application.create().routes(routes));

    expect(await (await app.get("/at")).json()).to.deep.equal({ at: "1970-01-01T00:00:00.000Z", n: 1 });
    for (const [path, member] of [
      ["/leak", "passwordHash"],
      ["/listed", "0.passwordHash"],
    ] as const) {
      const response = await app.get(path);
      expect([response.status, await response.text()].join())
        .to.match(/^500/)
        .and.not.contain("canary");
      expect(app.logs.lines().join("\n")).to.contain(`the undeclared member ${member}`);
    }
    expect(app.logs.lines().join("\n")).not.to.contain("no JSON Schema");
  });

  it("has the JSON Schema of the others, with zod, arktype and valibot", () => {
    const schemas: readonly Schema[] = [
      At,
      type({ at: "Date", n: "number" }),
      toStandardJsonSchema(v.object({ at: v.date(), n: v.number() })),
    ];
    for (const schema of schemas) expect(readKnownParts(schema, "input")).to.have.nested.property("properties.n.type");
  });

  it("may state that of the member with the metadata of zod", () => {
    const stated = z.object({ at: z.date().meta({ type: "string", format: "date-time" }) });

    expect(readKnownParts(stated, "input")).to.deep.include({
      properties: { at: { type: "string", format: "date-time" } },
    });
  });

  it("has none as a whole, which API documents report", () => {
    expect(readJsonSchema(At, "input")).to.be.instanceOf(NoJsonSchema);
  });

  it("has none where it is that member itself, alone or as an alternative", () => {
    for (const schema of [z.date(), z.custom<object>(), z.date().nullable(), z.date().describe("a day")])
      expect(readKnownParts(schema, "input")).to.be.instanceOf(NoJsonSchema);
  });

  it("still has another form after a transform", () => {
    const schema = At.extend({ text: z.string().transform(Number) });
    const input = readKnownParts(schema, "input");
    if (input instanceof NoJsonSchema) throw new Error(input.reason);

    expect(findFormChange(input, readKnownParts(schema, "output"))).to.equal("text");
  });
});

describe("a schema without any JSON Schema", () => {
  it("is named in a warning of the start, with the package and the function that give one", async () => {
    const query = v.object({ page: v.optional(v.string()) });
    const schemas = new Routes([Route.of(Get("/x", { query, responses: { 200: z.date() } }), () => new Date(0))]);
    await using app = await testApp(Application.create().routes(schemas));

    const warnings = app.logs.lines().filter((line) => line.includes("no JSON Schema"));
    expect(warnings).to.have.length(2);
    for (const warning of warnings)
      expect(warning).to.contain("@valibot/to-json-schema").and.contain("withJsonSchema(").and.contain("GET /x");
    expect(warnings[1]).to.contain("Date cannot be represented").and.contain("responses.200");
  });
});
