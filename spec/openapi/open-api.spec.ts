/** The OpenAPI document of an application: its operations, components, responses and faults. */

import {
  Application,
  Any,
  content,
  Controller,
  Get,
  guard,
  Guards,
  Module,
  Post,
  prefix,
  Query,
  resource,
  Route,
  Routes,
  routes,
  withJsonSchema,
} from "@stagecraft/framework";
import {
  createOpenApi,
  type JsonObject,
  type OpenApiDocument,
  type OpenApiOptions,
} from "@stagecraft/framework/openapi";
import { page, Pages } from "@stagecraft/framework/pages";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import { startupErrorOf } from "../support/startup-error-of.js";

const Note = z.object({ id: z.int(), text: z.string().default("tea") }).meta({ id: "Note", description: "A note." });

const signedIn = guard("signed-in", { scheme: "bearer" });

class Accounts {
  @Guards(signedIn) check() {}
}

/** The document of routes whose handlers are never called. */
function documentOf(table: object, options?: OpenApiOptions): OpenApiDocument {
  const endpoints = Object.values(table as Readonly<Record<string, ReturnType<typeof Get>>>);
  return createOpenApi(new Routes(endpoints.map((endpoint) => Route.of(endpoint, () => undefined))), options);
}

function operationOf({ paths }: OpenApiDocument, path: string, method = "get"): JsonObject {
  return (paths[path]?.[method] ?? expect.fail(`no ${method} ${path}`)) as JsonObject;
}

/** The value below a path of members, such as `responses 200 content`. */
function at(value: unknown, path: string): unknown {
  return path.split(" ").reduce((found: unknown, name) => Reflect.get(Object(found), name), value);
}

const binary = (type: string) => ({ type: "string", format: "binary", contentMediaType: type });

describe("the OpenAPI document", () => {
  const notes = routes("notes", "/notes", {
    index: Get("/", {
      query: z.object({ page: z.int().default(1), tag: z.array(z.string()).optional() }),
      responses: { 200: z.array(Note) },
    }),
    show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Note } }),
    store: Post("/", { guards: [signedIn], body: Note, responses: { 201: Note } }),
  });

  it("has an operation for each endpoint, with its dotted name and the name of its table", () => {
    const document = documentOf(notes, { info: { title: "Notes", version: "1.2.0" } });

    expect(document).to.deep.include({
      openapi: "3.1.1",
      info: { title: "Notes", version: "1.2.0" },
      servers: [{ url: "/" }],
    });
    expect(document.tags).to.deep.equal([{ name: "notes" }]);
    expect(Object.keys(document.paths)).to.deep.equal(["/notes", "/notes/{id}"]);
    expect(operationOf(document, "/notes", "post")).to.deep.include({
      operationId: "notes.store",
      summary: "notes.store",
      tags: ["notes"],
    });
  });

  it("has the key of an idempotent endpoint, its lifetime, and the refusals of keys", () => {
    const pay = Post("/pay", { name: "pay", idempotent: { required: true, ttlMs: 60_000 } });
    const operation = operationOf(documentOf({ pay }), "/pay", "post");

    expect(at(operation, "parameters 0")).to.deep.include({
      name: "Idempotency-Key",
      in: "header",
      required: true,
      schema: { type: "string", minLength: 1 },
    });
    expect(at(operation, "parameters 0 description")).to.include("For 60 seconds");
    expect(Object.keys(Object(operation["responses"]))).to.include.members(["403", "409", "422"]);
  });

  it("is the same text for the same routes in another order", () => {
    const { index, show, store } = notes;

    expect(JSON.stringify(documentOf({ store, show, index }))).to.equal(JSON.stringify(documentOf(notes)));
  });

  it("is the same text for the same modules in another order", () => {
    @Controller("/a")
    class First {
      @Get("/", { name: "first", responses: { 200: Note } }) show() {
        return { id: 1 };
      }
    }
    @Controller("/b")
    class Second {
      @Get("/", { name: "second", guards: [signedIn], responses: { 200: Note } }) show() {
        return { id: 2 };
      }
    }
    @Module({ controllers: [First] })
    class FirstModule {}
    @Module({ controllers: [Second], providers: [Accounts] })
    class SecondModule {}
    @Module({ imports: [FirstModule, SecondModule] })
    class Root {}
    @Module({ imports: [SecondModule, FirstModule] })
    class Reversed {}

    const [text, other] = [Root, Reversed].map((root) =>
      JSON.stringify(createOpenApi(Application.create(root).build())),
    );
    expect(text).to.equal(other).and.to.include('"second"');
  });

  it("reads the routes of an application with all their prefixes", () => {
    @Controller("/v1/notes")
    class Notes {
      @Get("/{id}", { name: "notes.show", responses: { 200: Note } })
      show() {
        return { id: 1, text: "tea" };
      }
    }
    @Module({ controllers: [Notes] })
    class Root {}

    expect(Object.keys(createOpenApi(Application.create(Root).build()).paths)).to.deep.equal(["/v1/notes/{id}"]);
  });

  it("has captures, the members of a query and headers as parameters", () => {
    const document = documentOf({
      show: Get("/a/{id}/{*rest}", {
        params: { id: z.int().describe("The id.") },
        query: z.object({ page: z.int().default(1), sort: z.object({ by: z.string() }).optional() }),
        headers: z.object({ "x-trace": z.string(), authorization: z.string() }),
      }),
    });
    const { parameters } = operationOf(document, "/a/{id}/{rest}");

    expect(parameters).to.be.an("array").with.lengthOf(5);
    expect((parameters as JsonObject[]).map(({ name, in: place, required }) => [name, place, required])).to.deep.equal([
      ["id", "path", true],
      ["rest", "path", true],
      ["page", "query", false],
      ["sort", "query", false],
      ["x-trace", "header", true],
    ]);
    expect(at(parameters, "0 description")).to.equal("The id.");
    expect(at(parameters, "2 schema default")).to.equal(1);
    expect(at(parameters, "3 style")).to.equal("deepObject");
  });

  it("has a query whose names are open as one object", () => {
    const document = documentOf({ list: Get("/list", { query: z.record(z.string(), z.string()) }) });

    expect(at(operationOf(document, "/list"), "parameters 0")).to.deep.include({
      name: "query",
      in: "query",
      style: "form",
      explode: true,
    });
  });

  it("has templates of the same paths as one path", () => {
    const document = documentOf({ show: Get("/notes/{id}"), store: Post("/notes/{note}") }, { include: () => true });

    expect(Object.keys(document.paths).filter((path) => path.startsWith("/notes/"))).to.deep.equal(["/notes/{id}"]);
    expect(at(operationOf(document, "/notes/{id}", "post"), "parameters 0 name")).to.equal("id");
  });

  it("has a route for any method once for each usual method, and leaves out the methods of other routes", () => {
    const any = routes("any", "/any", { all: Any("/"), read: Get("/", { responses: { 200: Note } }) });
    const item = documentOf(any).paths["/any"];

    expect(Object.keys(item ?? {})).to.have.members(["delete", "get", "patch", "post", "put"]);
    expect([at(item, "put operationId"), at(item, "get operationId")]).to.deep.equal(["any.all.put", "any.read"]);
  });

  it("has two versions of one table side by side, the earlier one deprecated", () => {
    const [first, second] = [prefix("/v1", notes), prefix("/v2", notes)];
    const old = Get("/old", { name: "old", deprecated: "2026-01-01", sunset: "2027-01-01", responses: { 200: Note } });
    const document = documentOf({ one: first.show, two: second.show, old });

    expect(Object.keys(document.paths)).to.deep.equal(["/old", "/v1/notes/{id}", "/v2/notes/{id}"]);
    expect(at(document.paths, "/v1/notes/{id} get operationId")).to.equal("v1.notes.show");
    expect(operationOf(document, "/v2/notes/{id}")).to.deep.include({
      operationId: "v2.notes.show",
      tags: ["v2.notes"],
    });
    expect(operationOf(document, "/old")["deprecated"]).to.equal(true);
    expect(operationOf(document, "/old")["x-sunset"]).to.match(/^2027-01-01/);
  });

  it("has QUERY in an extension and from version 3.2 on in its place, and the POST beside it", () => {
    const body = z.object({ text: z.string() });
    const search = routes("notes", "/notes", { find: Query("/find", { body, responses: { 200: Note } }).orPost() });
    const items = (["3.1", "3.2"] as const).map((version) => documentOf(search, { version }).paths["/notes/find"]);

    expect(items.map((item) => Object.keys(item ?? {}))).to.deep.equal([
      ["post", "x-query"],
      ["post", "query"],
    ]);
    expect([at(items[0], "post operationId"), at(items[0], "x-query operationId")]).to.deep.equal([
      "notes.find.post",
      "notes.find",
    ]);
    expect([at(items[0], "post tags"), at(items[0], "x-query tags")]).to.deep.equal([["notes"], ["notes"]]);
  });

  it("leaves out routes without a contract and without a name, unless asked", () => {
    const table = { health: Get("/internal"), named: Get("/named", "named") };

    expect(Object.keys(documentOf(table).paths)).to.deep.equal(["/named"]);
    expect(at(documentOf(table, { include: () => true }).paths, "/internal get operationId")).to.equal("get.internal");
  });

  it("says of an endpoint without responses that it declares none", () => {
    const document = documentOf(resource("photos", "/photos", { only: ["index"] }));

    expect(at(operationOf(document, "/photos"), "responses 200")).to.deep.equal({
      description: "The endpoint does not declare its responses.",
      content: { "*/*": {} },
    });
  });
});

describe("the schemas of an OpenAPI document", () => {
  it("are components where they have an id, with the input side of the schema", () => {
    const document = documentOf({ show: Get("/note", { responses: { 200: Note, 404: z.object({ note: Note }) } }) });

    expect(document.components.schemas["Note"]).to.deep.include({ description: "A note.", required: ["id"] });
    expect(at(operationOf(document, "/note"), "responses 200 content application/json schema")).to.deep.equal({
      $ref: "#/components/schemas/Note",
    });
    expect(
      at(operationOf(document, "/note"), "responses 404 content application/json schema properties note"),
    ).to.deep.equal({
      $ref: "#/components/schemas/Note",
    });
  });

  it("are components with the name of their place where they contain themselves", () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree);
      },
    });
    const document = documentOf({
      tree: Get("/tree", { name: "tree", responses: { 200: Tree, 201: z.object({ tree: Tree }) } }),
    });

    expect(Object.keys(document.components.schemas)).to.deep.equal(["Problem", "tree.200", "tree.201.1"]);
    expect(at(document.components.schemas, "tree.200 properties children items")).to.deep.equal({
      $ref: "#/components/schemas/tree.200",
    });
    expect(at(document.components.schemas, "tree.201.1 properties children items")).to.deep.equal({
      $ref: "#/components/schemas/tree.201.1",
    });
  });

  it("leave out the bounds that all integers of JavaScript have", () => {
    const Count = z.object({ any: z.int(), few: z.int().min(0).max(9), minimum: z.literal(1) });
    const document = documentOf({ show: Get("/count", { responses: { 200: Count } }) });
    const properties = at(operationOf(document, "/count"), "responses 200 content application/json schema properties");

    expect(at(properties, "any")).to.deep.equal({ type: "integer" });
    expect(at(properties, "few")).to.deep.equal({ type: "integer", minimum: 0, maximum: 9 });
    expect(at(properties, "minimum const")).to.equal(1);
  });

  it("keep values that look like a reference", () => {
    const looks = z.object({ $ref: z.string().default("#/a") });
    const document = documentOf({ show: Get("/ref", { responses: { 200: looks } }) });

    expect(
      at(operationOf(document, "/ref"), "responses 200 content application/json schema properties $ref default"),
    ).to.equal("#/a");
  });

  it("are a fault where two of one id differ", () => {
    const one = z.object({ a: z.int() }).meta({ id: "Same" });
    const two = withJsonSchema(z.object({ b: z.date() }), { $id: "Same", type: "object" });
    const error = startupErrorOf(() =>
      documentOf({
        one: Get("/one", { responses: { 200: z.object({ one }) } }),
        two: Get("/two", { responses: { 200: two } }),
      }),
    );

    expect(error.diagnostics.map(({ code }) => code)).to.deep.equal(["E_OPENAPI_COMPONENT"]);
    expect(error.message).to.include("responses.200 of GET /one and responses.200 of GET /two");
  });

  it("are each in the report where they are neither a schema nor a content", () => {
    const wrong = { "application/problem+json": Note } as unknown as typeof Note;
    const store = Post("/notes", { query: wrong, body: { "text/csv": wrong }, responses: { 200: Note, 409: wrong } });
    const error = startupErrorOf(() => documentOf({ store }));

    expect(error.diagnostics.map(({ code, what }) => `${code} ${what.split(" ")[0] ?? ""}`)).to.deep.equal([
      "E_CONTRACT query",
      "E_CONTRACT body",
      "E_CONTRACT responses.409",
    ]);
  });

  it("are each in the report where they have no JSON Schema, with the cure for the library", () => {
    const Plain = v.object({ text: v.string() });
    const error = startupErrorOf(() =>
      documentOf({
        store: Post("/notes", { body: Plain, responses: { 201: z.object({ at: z.date() }) } }),
        show: Get("/dates", { query: z.object({ at: z.date() }) }),
      }),
    );

    expect(error.diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_OPENAPI_SCHEMA GET /dates",
      "E_OPENAPI_SCHEMA POST /notes",
      "E_OPENAPI_SCHEMA POST /notes",
    ]);
    expect(error.diagnostics[1]).to.deep.include({
      fix: "wrap it: toStandardJsonSchema(schema) of @valibot/to-json-schema, or state it: withJsonSchema(schema, { type: … })",
    });
    expect(error.message).to.include(
      "query of GET /dates has no JSON Schema for the API document: at: Date cannot be represented",
    );
  });

  it("may be stated, and a wrapped schema of valibot needs no statement", () => {
    const at200 = withJsonSchema(z.date(), { type: "string", format: "date-time" });
    const document = documentOf({
      show: Get("/date", { responses: { 200: at200 } }),
      note: Get("/note", { responses: { 200: toStandardJsonSchema(v.object({ text: v.string() })) } }),
    });

    expect(at(operationOf(document, "/date"), "responses 200 content application/json schema")).to.deep.equal({
      type: "string",
      format: "date-time",
    });
    expect(
      at(operationOf(document, "/note"), "responses 200 content application/json schema properties"),
    ).to.deep.equal({ text: { type: "string" } });
  });
});

describe("the contents of an OpenAPI document", () => {
  const every = routes("every", "/", {
    store: Post("/store", {
      body: {
        "application/json": Note,
        "application/x-www-form-urlencoded": content.form(z.object({ author: z.object({ name: z.string() }) })),
        "multipart/form-data": content.multipart(z.object({ title: z.string() }), {
          photo: { types: ["image/png"], bytes: 1000 },
          more: { types: ["image/*"], several: true, optional: true },
        }),
        "text/plain": content.text(),
        "application/pdf": content.bytes("application/pdf"),
      },
      responses: { 200: content.text(), 201: content.bytes("image/png"), 204: content.none(), 303: content.redirect() },
    }),
    stream: Get("/stream", { responses: { 200: content.events(Note), 202: content.jsonLines(Note) } }),
    file: Get("/file", { responses: { 200: content.file("application/pdf") } }),
    page: Get("/page", { responses: { 200: content.page("notes/index") } }),
  });

  it("are those of a request by their media type", () => {
    const media = at(operationOf(documentOf(every), "/store", "post"), "requestBody content");
    expect(Object.keys(Object(media))).to.have.lengthOf(5);
    expect(at(media, "application/x-www-form-urlencoded encoding")).to.deep.equal({
      author: { style: "deepObject", explode: true },
    });
    expect(at(media, "multipart/form-data")).to.deep.equal({
      schema: {
        type: "object",
        properties: {
          title: { type: "string" },
          photo: { ...binary("image/png"), description: "At most 1000 bytes." },
          more: { type: "array", items: binary("application/octet-stream") },
        },
        required: ["title", "photo"],
      },
      encoding: { photo: { contentType: "image/png" }, more: { contentType: "image/*" } },
    });
    expect(at(media, "application/pdf schema")).to.deep.equal(binary("application/pdf"));
  });

  it("are those of a response: text, bytes, none, a redirect, a file, a page", () => {
    const document = documentOf(every);
    const responses = at(operationOf(document, "/store", "post"), "responses");

    expect(at(responses, "200 content text/plain schema type")).to.equal("string");
    expect(at(responses, "201 content image/png schema format")).to.equal("binary");
    expect(at(responses, "204")).to.deep.equal({ description: "No Content" });
    expect(at(responses, "303 headers Location required")).to.equal(true);
    expect(at(responses, "303 content")).to.equal(undefined);
    expect(Object.keys(Object(at(operationOf(document, "/file"), "responses")))).to.include.members([
      "200",
      "206",
      "304",
    ]);
    const shown = at(operationOf(document, "/page"), "responses");
    expect(at(shown, "200")).to.deep.include({ "x-page": "notes/index" });
    expect(Object.keys(Object(at(shown, "200 content")))).to.deep.equal(["text/html", "application/json"]);
    expect(at(shown, "409 headers X-Inertia-Location required")).to.equal(true);
  });

  it("name the items of a stream in an extension, and from version 3.2 on in itemSchema", () => {
    const streams = (["3.1", "3.2"] as const).map((version) =>
      at(operationOf(documentOf(every, { version }), "/stream"), "responses"),
    );
    const item = { $ref: "#/components/schemas/Note" };

    expect(at(streams[0], "200 content text/event-stream x-item-schema properties data contentSchema")).to.deep.equal(
      item,
    );
    expect(at(streams[0], "202 content application/x-ndjson")).to.deep.equal({
      schema: { type: "string" },
      "x-item-schema": item,
    });
    expect(at(streams[1], "200 content text/event-stream itemSchema properties data contentSchema")).to.deep.equal(
      item,
    );
    expect(at(streams[1], "202 content application/x-ndjson")).to.deep.equal({ itemSchema: item });
  });
});

describe("the problems and the security of an OpenAPI document", () => {
  const role = guard<object, [string]>("role", { scheme: "badge", refusals: [403] });
  const table = routes("notes", "/notes", {
    index: Get("/", { responses: { 200: Note } }),
    store: Post("/", { guards: [signedIn], body: Note, responses: { 201: Note } }),
    remove: Post("/remove", { guards: [role("admin")], responses: { 204: content.none(), 403: Note } }),
  });
  const securitySchemes = { badge: { type: "apiKey", in: "cookie", name: "session" } };

  it("are references to one response for each status", () => {
    const document = documentOf(table, { securitySchemes });
    const statuses = (path: string, method: string) =>
      Object.keys(Object(at(operationOf(document, path, method), "responses")));

    expect(statuses("/notes", "get")).to.deep.equal(["200", "400", "default"]);
    expect(statuses("/notes", "post")).to.deep.equal(["201", "400", "401", "403", "413", "415", "422", "default"]);
    expect(at(operationOf(document, "/notes"), "responses default")).to.deep.equal({
      $ref: "#/components/responses/OtherProblem",
    });
    expect(at(document.components.responses, "OtherProblem headers")).to.have.all.keys("Retry-After");
    expect(at(operationOf(document, "/notes", "post"), "responses 422")).to.deep.equal({
      $ref: "#/components/responses/UnprocessableEntity",
    });
    expect(at(document.components.responses, "Unauthorized headers WWW-Authenticate required")).to.equal(true);
    expect(
      at(document.components.responses, "UnprocessableEntity content application/problem+json schema"),
    ).to.deep.equal({
      $ref: "#/components/schemas/ValidationProblem",
    });
  });

  it("have a declared error as JSON that a handler returns, and as the problem that it throws", () => {
    const Taken = z.object({ title: z.string() });
    const document = documentOf({
      store: Post("/store", { body: Note, responses: { 201: Note, 409: Taken, 422: Taken } }),
    });
    const responses = at(operationOf(document, "/store", "post"), "responses");

    expect(at(responses, "409 content application/problem+json schema")).to.deep.equal(
      at(responses, "409 content application/json schema"),
    );
    expect(at(responses, "422 content application/problem+json schema")).to.deep.equal({
      $ref: "#/components/schemas/ValidationProblem",
    });
  });

  it("have the declared conflict of an endpoint with keys, or the problem of the keys", () => {
    const Taken = z.object({ taken: z.string() });
    const pay = Post("/pay", { idempotent: true, responses: { 200: Note, 409: Taken, 410: Taken } });
    const responses = at(operationOf(documentOf({ pay }), "/pay", "post"), "responses");
    const taken = at(responses, "409 content application/json schema");

    expect(at(taken, "required")).to.deep.equal(["taken"]);
    expect(at(responses, "409 content application/problem+json schema")).to.deep.equal({
      anyOf: [taken, { $ref: "#/components/schemas/Problem" }],
    });
    expect(at(responses, "410 content application/problem+json schema")).to.deep.equal(taken);
  });

  it("are pages too where the application shows errors as pages, and data for the front end that visits them", () => {
    const shown = routes("shown", "/", {
      list: Get("/list", { responses: { 200: Note } }),
      page: Get("/page", { responses: { 200: content.page("notes/index") } }),
    });
    const application = Application.create()
      .routes(new Routes([Route.of(shown.list, () => ({ id: 7 })), Route.of(shown.page, () => page("notes/index"))]))
      .pages(new Pages({ errors: { "4xx": "errors/show" } }))
      .build();
    const document = createOpenApi(application);

    expect(Object.keys(Object(at(document.components.responses, "OtherProblem content")))).to.deep.equal([
      "application/problem+json",
      "text/html",
    ]);
    expect(at(operationOf(document, "/page"), "responses default")).to.deep.equal({
      $ref: "#/components/responses/ErrorPage",
    });
    expect(at(document.components.responses, "ErrorPage content application/json schema")).to.deep.equal({
      $ref: "#/components/schemas/InertiaPage",
    });
    expect(at(createOpenApi(application.routes()).components.responses, "ErrorPage")).to.equal(undefined);
  });

  it("leave a declared status as the contract has it", () => {
    const document = documentOf(table, { securitySchemes });

    expect(
      at(operationOf(document, "/notes/remove", "post"), "responses 403 content application/json schema"),
    ).to.deep.equal({
      $ref: "#/components/schemas/Note",
    });
  });

  it("have the redirect of a guard, and no response that no operation references", () => {
    const leading = guard("page", { refusals: [303] });
    const document = documentOf({
      own: Post("/own", { guards: [leading], responses: { 303: content.redirect() } }),
      other: Get("/other", { guards: [guard("login", { refusals: [302] })], responses: { 200: Note } }),
    });

    expect(document.components.responses).to.have.property("Found");
    expect(document.components.responses).to.not.have.property("SeeOther");
    expect(document.components.responses["Found"]).to.deep.equal({
      description: "Found",
      headers: { Location: { schema: { type: "string", format: "uri-reference" }, required: true } },
    });
  });

  it("have the JSON of the error mapping, where the application gives its schema", () => {
    const document = documentOf(table, { securitySchemes, problem: z.object({ errors: z.array(z.string()) }) });

    expect(
      at(document.components.responses, "BadRequest content application/json schema properties errors type"),
    ).to.equal("array");
    expect(Object.keys(document.components.schemas)).to.deep.equal(["Note"]);
  });

  it("come from the schemes of the guards, and a public operation has none", () => {
    const document = documentOf(table, { securitySchemes });

    expect(operationOf(document, "/notes")["security"]).to.deep.equal([]);
    expect(operationOf(document, "/notes", "post")["security"]).to.deep.equal([{ bearer: [] }]);
    expect(operationOf(document, "/notes/remove", "post")["security"]).to.deep.equal([{ badge: ["admin"] }]);
    expect(document.components.securitySchemes).to.deep.equal({
      bearer: { type: "http", scheme: "bearer" },
      ...securitySchemes,
    });
  });

  it("need no token for a safe request to an endpoint of programs", () => {
    const programs = routes("programs", "/programs", {
      list: Get("/", { bearer: true }),
      store: Post("/", { bearer: true }),
    });
    const document = documentOf(programs);

    expect(operationOf(document, "/programs")["security"]).to.deep.equal([]);
    expect(operationOf(document, "/programs", "post")["security"]).to.deep.equal([{ bearer: [] }]);
  });

  it("are a fault where a scheme is unknown, and where a text has an unknown name", () => {
    const error = startupErrorOf(() => documentOf(table, { texts: { "notes.sotre": { summary: "Stores a note" } } }));

    expect(error.diagnostics.map(({ code }) => code)).to.deep.equal(["E_OPENAPI_SCHEME", "E_OPENAPI_TEXT"]);
    expect(error.message).to.include('the security scheme "badge"');
  });

  it("are absent where no operation needs one", () => {
    expect(documentOf({ show: Get("/", "home") }).components).to.not.have.property("securitySchemes");
  });

  it("have a fault that names a near name, or the summary of a tag", () => {
    const texts = { "notes.idnex": {}, "something.else": {}, notes: { summary: "Notes" } };
    const { diagnostics } = startupErrorOf(() => documentOf(table, { securitySchemes, texts }));

    expect(diagnostics.map(({ code, fix }) => `${code}: ${fix}`)).to.deep.equal([
      'E_OPENAPI_TEXT: write "notes.index"',
      "E_OPENAPI_TEXT: write the dotted name of an endpoint, or the name of a table",
      "E_OPENAPI_TEXT: write it as the description",
    ]);
  });

  it("have the summary and the description of the application's texts", () => {
    const texts = {
      "notes.index": { summary: "All notes", description: "Newest *first*." },
      notes: { description: "Notes of a user." },
    };
    const document = documentOf(table, { securitySchemes, texts });

    expect(operationOf(document, "/notes")).to.deep.include(texts["notes.index"]);
    expect(document.tags).to.deep.equal([{ name: "notes", description: "Notes of a user." }]);
  });

  it("have the tags in the order of the texts, and then those without one", () => {
    const [list, shown] = [Get("/list", { name: "zebra.list" }), Get("/page", { name: "apple.page" })];
    const document = documentOf(
      { list, shown, more: Get("/more", { name: "bear.more" }) },
      {
        texts: { zebra: { description: "Zebras." } },
      },
    );

    expect(document.tags.map(({ name }) => name)).to.deep.equal(["zebra", "apple", "bear"]);
  });
});
