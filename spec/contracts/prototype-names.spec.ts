/** Names that mean the prototype of an object, or that every object inherits, in each part of a request and in the schemas themselves. */
import { expect } from "chai";
import { z } from "zod";
import { Application, content, Get, Post, provide, Route, Routes, type Schema } from "@stagecraft/framework";
import { type RequestOptions, testApp, type TestApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";
import { formBytes, FORM_TYPE } from "../support/multipart.js";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

/** A schema of these members, each a whole number that may be missing. zod itself leaves out a member with the name `__proto__`. */
function createSchema(names: readonly string[]): Schema<unknown, Readonly<Record<string, unknown>>> {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]));
  const jsonSchema = () => ({ type: "object", properties });
  return {
    "~standard": {
      version: 1,
      vendor: "spec",
      validate: (value) => {
        const wrong = Object.entries(Object(value)).filter(([, member]) => !Number.isInteger(member));
        if (wrong.length > 0) return { issues: wrong.map(([name]) => ({ message: "no whole number", path: [name] })) };
        return { value: Object(value) };
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    } as Schema<unknown, Readonly<Record<string, unknown>>>["~standard"],
  };
}

const all = createSchema(NAMES);
/** Node gives the names of headers in lower case. */
const lower = createSchema(NAMES.map((name) => name.toLowerCase()));
const record = z.record(z.string(), z.string());

function upload(name: string): RequestOptions {
  return { body: new Uint8Array(formBytes({ name, content: "1" })), headers: { "content-type": FORM_TYPE } };
}

/** The members of an object itself, with those that JSON leaves out. */
function listOwn(value: unknown): unknown {
  return Object.entries(Object(value));
}

const routes = new Routes([
  Route.of(Get("/query", { query: all }), ({ input }) => listOwn(input.query)),
  Route.of(Get("/records", { query: record }), ({ input }) => listOwn(input.query)),
  Route.of(Get("/headers", { headers: lower }), ({ input }) => listOwn(input.headers)),
  Route.of(Get("/every-header", { headers: record }), ({ input }) => listOwn(input.headers)),
  Route.of(Post("/form", { body: content.form(all) }), ({ input }) => listOwn(input.body)),
  Route.of(Post("/json", { body: all }), ({ input }) => listOwn(input.body)),
  Route.of(Post("/upload", { body: content.multipart(all, { constructor: { optional: true } }) }), ({ input }) =>
    listOwn(input.body),
  ),
  Route.of(Get("/capture/{id}", { params: { id: z.string() } }), ({ params }) => listOwn(params)),
  Route.of(
    Get("/captures/{__proto__}/{constructor}/{toString}", {
      params: { ["__proto__"]: z.int(), constructor: z.int(), toString: z.int() },
    }),
    ({ params }) => listOwn(params),
  ),
  Route.of(
    Get("/response", { responses: { 200: all } }),
    (ctx) => JSON.parse(ctx.get("x-value")) as Readonly<Record<string, unknown>>,
  ),
]);

function start(): Promise<TestApp> {
  return testApp(
    Application.create()
      .provide(provide(Uploads).useFactory(() => new Uploads()))
      .routes(routes),
  );
}

/** The members that every object would have. */
function listPolluted(): readonly string[] {
  const names: string[] = [];
  // Only `in` finds inherited members.
  // oxlint-disable-next-line guard-for-in
  for (const name in {}) names.push(name);
  return names;
}

const REFUSED = [
  "__proto__",
  "constructor[prototype]",
  "constructor[prototype][isAdmin]",
  "a[__proto__]",
  "a[][__proto__]",
];

describe("a name of the prototype", () => {
  afterEach(() => {
    expect(listPolluted()).to.deep.equal([]);
    expect(Object.prototype.toString.call({})).to.equal("[object Object]");
  });

  for (const name of REFUSED) {
    it(`is refused in a query, a form and an upload: ${name}`, async () => {
      await using app = await start();
      const field = `${encodeURIComponent(name)}=1`;

      const query = await app.get(`/query?${field}`);
      const records = await app.get(`/records?${field}`);
      const form = await app.post("/form", { form: { [name]: "1" } });
      const uploaded = await app.post("/upload", upload(name));

      expect([query, records, form, uploaded].map(({ status }) => status)).to.deep.equal([400, 400, 400, 400]);
    });
  }

  for (const body of ['{"__proto__":1}', '{"constructor":{"prototype":{"isAdmin":true}}}', '[{"\\u005f_proto__":1}]'])
    it(`is refused in JSON: ${body}`, async () => {
      await using app = await start();

      const response = await app.post("/json", { body, headers: { "content-type": "application/json" } });

      expect(response.status).to.equal(400);
    });

  for (const name of NAMES.slice(1))
    it(`is a member like others, where it is ${name}`, async () => {
      await using app = await start();
      const read = [
        await app.get(`/query?${name}=1`),
        await app.post("/form", { form: { [name]: "1" } }),
        await app.post("/json", { json: { [name]: 1 } }),
        await app.get("/headers", { headers: { [name]: "1" } }),
      ];
      const records = await (await app.get(`/records?${name}=1`)).json();
      const headers = await (await app.get("/every-header", { headers: { [name]: "1" } })).json();
      const uploaded = await app.post("/upload", upload(name));

      expect(await Promise.all(read.map((response) => response.json()))).to.deep.equal([
        [[name, 1]],
        [[name, 1]],
        [[name, 1]],
        [[name.toLowerCase(), 1]],
      ]);
      expect(records).to.deep.equal([[name, "1"]]);
      expect(headers).to.deep.include([name.toLowerCase(), "1"]);
      // The contract takes a file of the name constructor.
      expect(uploaded.status).to.equal(name === "constructor" ? 422 : 200);
    });

  for (const name of NAMES)
    it(`is refused where its value is, as ${name} in headers and captures`, async () => {
      await using app = await start();

      const faults = [
        await app.get("/headers", { headers: { [name]: "x" } }),
        await app.get(`/captures/${name}/1/1`),
        await app.get(`/captures/1/1/${name}`),
      ];

      // Node drops a header of the name __proto__.
      expect(faults.map(({ status }) => status)).to.deep.equal([name === "__proto__" ? 200 : 422, 422, 422]);
    });

  it("is not read from a request without it", async () => {
    await using app = await start();

    const read = [await app.get("/headers"), await app.get("/query"), await app.post("/json", { json: {} })];
    const uploaded = await app.post("/upload", upload("valueOf"));

    expect(await Promise.all(read.map((response) => response.json()))).to.deep.equal([[], [], []]);
    expect(await uploaded.json()).to.deep.equal([["valueOf", 1]]);
  });

  it("is a capture like others, as value and as name", async () => {
    await using app = await start();

    for (const name of NAMES)
      expect(await (await app.get(`/capture/${name}`)).json(), name).to.deep.equal([["id", name]]);
    expect(await (await app.get("/captures/1/2/3")).json()).to.deep.equal([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 3],
    ]);
  });

  it("is declared or undeclared in a response like others", async () => {
    await using app = await start();
    const get = async (text: string): Promise<number> =>
      (await app.get("/response", { headers: { "x-value": text } })).status;

    for (const name of NAMES) expect(await get(`{"${name}":1}`), name).to.equal(200);
    for (const name of ["isPrototypeOf", "__defineGetter__"]) expect(await get(`{"${name}":1}`), name).to.equal(500);
  });
});
