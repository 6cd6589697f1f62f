/** Contents without sense: `build()` refuses them, and a debug build refuses values that are not as declared. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type Context,
  Controller,
  Get,
  Head,
  Module,
  Post,
  Query,
  redirect,
  Reply,
  Route,
  Routes,
  routes,
} from "@stagecraft/framework";
import { external } from "@stagecraft/framework/pages";
import { testApp } from "@stagecraft/framework/testing";
import { startupErrorOf } from "../support/startup-error-of.js";

const A = z.object({ a: z.int() });

/** What the compiler refuses. */
const asContent = (given: unknown) => given as typeof A;
const asRecord = (given: unknown) => given as Readonly<Record<string, typeof A>>;

/** Rules that are built before the call, so that the compiler does not compare their names. */
const MISSPELT: object = { types: ["image/*"], maxBytes: 10 };
const SHORT_LIMITS: object = { bites: 1 };

const refused: readonly (readonly [route: Route, what: string, fix: string])[] = [
  [
    Route.of(Get("/x", { responses: { 200: content.form(A) } }), () => ({ a: 1 })),
    "responses.200 of GET /x: content.form is a content of requests alone",
    "content.text",
  ],
  [
    Route.of(Get("/x", { responses: { 200: asContent(content.multipart(A, {})) } }), () => ({ a: 1 })),
    "responses.200 of GET /x: content.multipart is a content of requests alone",
    "content.text",
  ],
  ...([204, 205, 304] as const).map(
    (status) =>
      [
        Route.of(Get("/x", { responses: { [status]: A } }), () => Reply.empty(status) as never),
        `responses.${status} of GET /x: a response of this status has no body`,
        "content.none()",
      ] as const,
  ),
  [
    Route.of(Get("/x", { responses: { 200: content.redirect() } }), () => redirect()),
    "responses.200 of GET /x: a redirect has another status",
    "301, 302, 303, 307, 308",
  ],
  [
    Route.of(Get("/x", { body: A }), () => ""),
    "body of GET /x: a request of GET has no body",
    "use query, or another method, such as POST or QUERY",
  ],
  [Route.of(Head("/x", { body: A }), () => ""), "body of HEAD /x: a request of HEAD has no body", "use query"],
  [
    Route.of(Get("/x", { responses: { 204: asContent(content.none) } }), () => undefined as never),
    "responses.204 of GET /x: content.none is a function",
    "call it: content.none()",
  ],
  [
    Route.of(Post("/x", { body: asContent(content.form) }), () => ""),
    "body of POST /x: content.form is a function",
    "call it: content.form(…)",
  ],
  [
    Route.of(Post("/x", { body: content.multipart(A, { photo: MISSPELT }) }), () => ""),
    'body of POST /x: the rule of the file "photo" has the unknown option "maxBytes"',
    "the options are types, bytes, optional, several",
  ],
  [
    Route.of(Post("/x", { body: { "multipart/form-data": content.multipart(A, {}, SHORT_LIMITS) } }), () => ""),
    'body of POST /x: content.multipart has the unknown option "bites"',
    "the options are bytes, fileBytes, fieldBytes, parts, timeoutMs, idleMs",
  ],
  [
    Route.of(Get("/x/{slug}", { params: asRecord(A) }), () => ""),
    "params of GET /x/{slug}: it is one schema, where a record of schemas stands",
    "write params: { slug: schema }",
  ],
  [
    Route.of(Get("/x", { responses: asRecord(A) }), () => undefined as never),
    "responses of GET /x: it is one schema, where a record of schemas stands",
    "write responses: { 200: schema }",
  ],
  ...(
    [
      [{}, "it has no content", "leave out the body"],
      [{ title: z.string() }, '"title" is no media type of a request', "write z.object({ … })"],
      [{ "Application/JSON": A }, '"Application/JSON" is no media type of a request', 'write "application/json"'],
      [
        { "application/json; charset=utf-8": A },
        '"application/json; charset=utf-8" is no media type of a request',
        'write "application/json"',
      ],
      [
        content.text("text/plain; charset=utf-8"),
        '"text/plain; charset=utf-8" is no media type of a request',
        'write "text/plain"',
      ],
      [content.bytes("image/*"), '"image/*" is no media type of a request', "name each media type"],
    ] as const
  ).map(
    ([body, what, fix]) =>
      [Route.of(Post("/x", { body: asContent(body) }), () => ""), `body of POST /x: ${what}`, fix] as const,
  ),
  [
    Route.of(Get("/x", { responses: {} }), () => "" as never),
    "responses of GET /x: it has no status",
    "leave out the responses",
  ],
];

describe("build() refuses a content without sense:", () => {
  for (const [route, what, fix] of refused)
    it(what, () => {
      const { diagnostics } = startupErrorOf(() =>
        Application.create()
          .routes(new Routes([route]))
          .build(),
      );

      expect(diagnostics.filter(({ code }) => code === "E_CONTRACT").map((each) => each.what)).to.deep.equal([what]);
      expect(diagnostics.find(({ code }) => code === "E_CONTRACT")?.fix).to.contain(fix);
    });

  it("and takes a body of QUERY, and responses without a body of any status", () => {
    const responses = { 200: content.none(), 204: content.none(), 304: content.none() };
    const given = new Routes([Route.of(Get("/n", { responses }), () => Reply.empty(304))]);
    const search = Query("/q", { body: A });
    class Search {
      @search search() {
        return "";
      }
    }
    Controller("/search")(Search);
    @Module({ controllers: [Search] })
    class SearchModule {}

    expect(() => Application.create().routes(given).build()).not.to.throw();
    expect(() => Application.create(SearchModule).build()).not.to.throw();
  });
});

/** A handler whose type the compiler does not compare with the contract. */
type Loose = (ctx: Context) => never;

const loose =
  (value: unknown): Loose =>
  () =>
    value as never;

const wrong: readonly (readonly [
  title: string,
  responses: Readonly<Record<number, ReturnType<typeof asContent>>>,
  value: unknown,
  fault: string,
])[] = [
  [
    "a redirect of another status",
    { 303: asContent(content.redirect()) },
    redirect().to("/y"),
    "a redirect with the status 302, which",
  ],
  [
    "a permanent redirect",
    { 302: asContent(content.redirect()) },
    redirect().to("/y").permanent(),
    "a redirect with the status 301, which",
  ],
  [
    "a redirect to another site of another status",
    { 303: asContent(content.redirect()) },
    external("https://pay.example/"),
    "a redirect to another site with the status 302, which",
  ],
  [
    "HTML where CSV is declared",
    { 200: asContent(content.text("text/csv")) },
    Reply.html("<b>"),
    "a value for 200 that is not its content, text of text/csv",
  ],
  [
    "bytes of another type",
    { 200: asContent(content.bytes("image/png")) },
    Reply.of(Buffer.from("x")),
    "a value for 200 that is not its content, bytes of image/png",
  ],
  [
    "a plain value where several statuses of success are declared",
    { 200: A, 201: A },
    { a: 1 },
    "a plain value, while several statuses of success are declared, 200 and 201: return Reply.json(value, 200)",
  ],
  [
    "nothing where only an error has no body",
    { 200: A, 404: asContent(content.none()) },
    undefined,
    "nothing, for which 204 is sent",
  ],
];

const taken: readonly (readonly [
  title: string,
  responses: Readonly<Record<number, ReturnType<typeof asContent>>>,
  value: unknown,
  status: number,
])[] = [
  [
    "a redirect of one of two statuses",
    { 301: asContent(content.redirect()), 302: asContent(content.redirect()) },
    redirect().to("/y"),
    302,
  ],
  [
    "a text with other parameters of its type",
    { 200: asContent(content.text("text/csv")) },
    Reply.of("a", "Text/CSV; header=present"),
    200,
  ],
  [
    "bytes of a family of types",
    { 200: asContent(content.bytes("image/*")) },
    Reply.of(Buffer.from("x"), "image/png"),
    200,
  ],
  ["a reply of one of several statuses", { 200: A, 201: A }, Reply.json({ a: 1 }, 201), 201],
];

describe("a debug build", () => {
  for (const [title, responses, value, fault] of wrong)
    it(`refuses ${title}`, async () => {
      const given = new Routes([Route.of(Get("/x", { responses }), loose(value))]);
      await using app = await testApp(Application.create().routes(given));

      expect((await app.get("/x")).status).to.equal(500);
      expect(app.logs.lines().join("\n")).to.contain(`the handler of GET /x returned ${fault}`);
    });

  for (const [title, responses, value, status] of taken)
    it(`takes ${title}`, async () => {
      const given = new Routes([Route.of(Get("/x", { responses }), loose(value))]);
      await using app = await testApp(Application.create().routes(given));

      expect((await app.get("/x")).status).to.equal(status);
    });
});

describe("a response without a body", () => {
  for (const status of [200, 201, 202, 204])
    it(`has the declared status ${status}, which the client takes`, async () => {
      const table = routes("table", "/table", { run: Post("/", { responses: { [status]: content.none() } }) });
      const given = new Routes([Route.of(table.run, loose(undefined))]);
      await using app = await testApp(Application.create().routes(given));

      const response = await app.client(table).run.result();

      expect(response).to.deep.include({ status, body: undefined });
      expect((await app.post("/table")).headers.get("content-type")).to.equal(null);
    });

  it("may stand beside one with a body", async () => {
    const table = routes("table", "/table", { run: Post("/", { responses: { 200: A, 202: content.none() } }) });
    await using app = await testApp(Application.create().routes(new Routes([Route.of(table.run, loose(undefined))])));

    expect((await app.post("/table")).status).to.equal(202);
  });
});
