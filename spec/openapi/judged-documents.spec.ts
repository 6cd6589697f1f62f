/** Documents as the schema of the OpenAPI project judges them, and the responses of a sample by its own document. */

import { content, Get, guard, Post, Route, Routes, routes } from "@stagecraft/framework";
import { createOpenApi, type OpenApiDocument } from "@stagecraft/framework/openapi";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { z } from "zod";
import { conduitApplication } from "../../samples/conduit/application.js";
import { fileDatabase } from "../../samples/conduit/database.js";
import { settingsFrom } from "../../samples/conduit/settings.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom as settingsFromLinks } from "../../samples/links/settings.js";
import { createResponseJudge } from "../support/response-judge.js";

const KEY = "5e".repeat(64);

const Note = z.object({ id: z.int(), tags: z.array(z.string()).default([]) }).meta({ id: "Note" });
const Form = z.object({ author: z.object({ name: z.string() }) });
const signedIn = guard("signed-in", { scheme: "bearer" });

const every = routes("every", "/every/{team}", {
  index: Get("/", {
    query: z.object({ sort: Form.optional() }),
    headers: z.object({ "x-trace": z.string() }),
    responses: { 200: z.array(Note) },
  }),
  store: Post("/", {
    guards: [signedIn],
    body: {
      "application/json": Note,
      "multipart/form-data": content.multipart(Form, { photo: { types: ["image/*"] } }),
      "text/plain": content.text(),
    },
    responses: { 201: Note, 303: content.redirect(), 204: content.none() },
  }),
  streams: Get("/streams", { responses: { 200: content.events(Note), 203: content.jsonLines(Note) } }),
  files: Get("/files/{*path}", {
    responses: { 200: content.file("application/pdf"), 201: content.bytes(), 404: content.page("missing") },
  }),
  open: Get("/open", { query: z.record(z.string(), z.string()) }),
});

const handlers = new Routes(Object.values(every).map((each) => Route.of(each as typeof every.open, () => undefined)));

describe("the schema of the OpenAPI project", () => {
  for (const version of ["3.1", "3.2"] as const)
    it(`accepts a document of version ${version} with every part and content`, async () => {
      const judged = await new Validator().validate(JSON.parse(JSON.stringify(createOpenApi(handlers, { version }))));

      expect(judged).to.deep.equal({ valid: true });
    });

  it("accepts the document of samples/conduit", async () => {
    await using app = await conduit();

    expect(await new Validator().validate({ ...(await documentOf(app)) })).to.deep.equal({ valid: true });
  });

  it("accepts the document of samples/links", async () => {
    const securitySchemes = { session: { type: "apiKey", in: "cookie", name: "session" } };
    const document = createOpenApi(linksApplication(settingsFromLinks({})).build(), { securitySchemes });

    expect(Object.keys(document.paths)).to.include.members(["/api/links", "/links/{slug}/logo"]);
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).to.deep.equal({ valid: true });
  });
});

describe("the responses of samples/conduit", function () {
  this.timeout(120_000);

  it("are valid by its own document", async () => {
    await using app = await conduit();
    const judge = createResponseJudge(await documentOf(app));
    const faults: string[] = [];
    const statuses = new Set<number>();
    let token = "";

    const send = async (method: string, path: string, json?: unknown): Promise<string> => {
      const headers = token === "" ? {} : { Authorization: `Token ${token}` };
      const response = await app.request(`/api${path}`, { method, headers, ...(json !== undefined && { json }) });
      const text = await response.text();
      const [pathname = ""] = `/api${path}`.split("?");
      statuses.add(response.status);
      faults.push(
        ...[
          judge({
            method,
            path: pathname,
            status: response.status,
            headers: response.headers,
            text,
          }),
        ].filter((each) => each !== undefined),
      );
      return text;
    };
    const user = { username: "ada", email: "ada@example.org", password: "correct horse" };
    const article = { title: "A title", description: "about", body: "text", tagList: ["tea"] };

    const { user: account } = JSON.parse(await send("POST", "/users", { user })) as {
      readonly user: { readonly token: string };
    };
    for (const [method, path, json] of [
      ["POST", "/users", { user }],
      ["POST", "/users", { user: {} }],
      ["POST", "/users/login", { user }],
      ["POST", "/users/login", { user: { ...user, password: "wrong" } }],
      ["GET", "/user"],
      ["GET", "/articles"],
      ["GET", "/articles?limit=many"],
      ["GET", "/profiles/ada"],
      ["GET", "/profiles/none"],
      ["GET", "/tags"],
    ] as const)
      await send(method, path, json);
    ({ token } = account);
    const created = JSON.parse(await send("POST", "/articles", { article })) as {
      readonly article: { readonly slug: string };
    };
    const place = `/articles/${created.article.slug}`;
    for (const [method, path, json] of [
      ["GET", "/user"],
      ["PUT", "/user", { user: { bio: "a bio" } }],
      ["POST", "/articles", "not JSON of an article"],
      ["GET", "/articles?tag=tea"],
      ["GET", "/articles/feed"],
      ["GET", place],
      ["GET", "/articles/none"],
      ["PUT", place, { article: { body: "more" } }],
      ["POST", `${place}/favorite`],
      ["DELETE", `${place}/favorite`],
      ["POST", `${place}/comments`, { comment: { body: "mine" } }],
      ["GET", `${place}/comments`],
      ["DELETE", `${place}/comments/1`],
      ["DELETE", place],
    ] as const)
      await send(method, path, json);

    expect(faults).to.deep.equal([]);
    expect([...statuses]).to.include.members([200, 201, 204, 401, 404, 409, 422]);
  });

  it("are judged: one with a wrong member, status or media type is a fault", async () => {
    await using app = await conduit();
    const judge = createResponseJudge(await documentOf(app));
    const tags = {
      method: "GET",
      path: "/api/tags",
      status: 200,
      headers: new Headers({ "content-type": "application/json" }),
      text: '{"tags":[1]}',
    };

    expect(judge(tags)).to.include("must be string");
    expect(judge({ ...tags, status: 418 })).to.include("must have required property 'errors'");
    expect(judge({ ...tags, headers: new Headers({ "content-type": "text/html" }) })).to.include("is text/html");
    expect(judge({ ...tags, path: "/api/none" })).to.include("no operation");
    expect(judge({ ...tags, path: "/api/user", status: 401 })).to.include("has no header WWW-Authenticate");
    expect(judge({ ...tags, status: 429, text: '{"errors":{"body":"full"}}' })).to.include("must be array");
  });
});

function conduit(): Promise<TestApp> {
  return testApp(conduitApplication(settingsFrom({ TOKEN_KEY: KEY }), fileDatabase(":memory:")));
}

async function documentOf(app: TestApp): Promise<OpenApiDocument> {
  return (await (await app.get("/openapi.json")).json()) as OpenApiDocument;
}
