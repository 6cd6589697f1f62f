/** `.apiDocs(…)`: the routes of the document and of its page, their faults, and the page as text. */

import {
  Application,
  CspNonce,
  Get,
  type KoaMiddleware,
  Post,
  Reply,
  Route,
  Routes,
  routes,
  SecurityHeaders,
} from "@stagecraft/framework";
import { createOpenApi } from "@stagecraft/framework/openapi";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { startupErrorOf } from "../support/startup-error-of.js";

const notes = routes("notes", "/notes", {
  index: Get("/", { responses: { 200: z.array(z.string()) } }),
  store: Post("/", { body: z.string(), responses: { 201: z.string() } }),
  hook: Post("/hook", { csrf: "exempt", responses: { 201: z.string() } }),
});

function notesApplication() {
  return Application.create().routes(
    new Routes([
      Route.of(notes.index, () => ["tea"]),
      Route.of(notes.store, () => Reply.json("tea", 201)),
      Route.of(notes.hook, () => Reply.json("tea", 201)),
    ]),
  );
}

/** Overwrites the bytes of a response where the request asks for it. */
const spoil: KoaMiddleware = async (ctx, next) => {
  await next();
  if (ctx.get("x-spoil") !== "" && ctx.body instanceof Uint8Array) ctx.body.fill(32);
};

describe(".apiDocs(…)", () => {
  it("serves the document of the application under its name, and nothing about itself", async () => {
    await using app = await testApp(notesApplication().apiDocs());

    const response = await app.get("/openapi.json");
    const document = JSON.parse(await response.text()) as ReturnType<typeof createOpenApi>;

    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("application/json");
    expect(document).to.deep.equal(createOpenApi(app.application));
    expect(Object.keys(document.paths)).to.deep.equal(["/notes", "/notes/hook"]);
  });

  it("has a tag on the document and on the files of the viewer, by which a client that has them gets 304", async () => {
    await using app = await testApp(notesApplication().apiDocs());

    for (const path of ["/openapi.json", "/docs/viewer.css"]) {
      const { headers } = await app.get(path);
      const tag = headers.get("etag") ?? "";
      const known = await app.get(path, { headers: { "If-None-Match": `W/"x", ${tag}` } });
      const dated = await app.get(path, { headers: { "If-Modified-Since": new Date().toUTCString() } });
      const failed = await app.get(path, { headers: { "If-Match": '"x"' } });

      expect(tag, path).to.match(/^"[\w-]{43}"$/);
      expect(headers.get("cache-control"), path).to.equal("no-cache");
      expect([known.status, await known.text(), known.headers.get("etag")], path).to.deep.equal([304, "", tag]);
      expect([dated.status, failed.status], path).to.deep.equal([200, 412]);
    }
  });

  it("has the same tag for the same routes, and another for other routes", async () => {
    const routesOfTwo = new Routes([Route.of(notes.index, () => ["tea"])]);
    await using app = await testApp(notesApplication().apiDocs());
    await using again = await testApp(notesApplication().apiDocs());
    await using other = await testApp(Application.create().routes(routesOfTwo).apiDocs());
    const tags = await Promise.all(
      [app, again, other].map(async (each) => (await each.get("/openapi.json")).headers.get("etag")),
    );

    expect(tags[1]).to.equal(tags[0]);
    expect(tags[2]).not.to.equal(tags[0]);
  });

  it("writes the document at the first request, and not again", async () => {
    let reads = 0;
    const server = {
      get url() {
        reads += 1;
        return "/";
      },
    };
    await using app = await testApp(notesApplication().apiDocs({ servers: [server], page: false }));
    const before = reads;

    const first = await (await app.get("/openapi.json")).text();
    const second = await (await app.get("/openapi.json")).text();

    expect([before, reads]).to.deep.equal([0, 1]);
    expect(second).to.equal(first);
  });

  it("sends the document unchanged after a layer has changed its bytes in one response", async () => {
    await using app = await testApp(notesApplication().layer(spoil).apiDocs());

    for (const path of ["/openapi.json", "/docs/viewer.css"]) {
      const spoiled = await (await app.get(path, { headers: { "x-spoil": "1" } })).text();
      const whole = await (await app.get(path)).text();

      expect(spoiled.trim(), path).to.equal("");
      expect(whole.trim(), path).not.to.equal("");
    }
  });

  it("does nothing unless it is called", async () => {
    await using app = await testApp(notesApplication());

    expect([(await app.get("/openapi.json")).status, (await app.get("/docs")).status]).to.deep.equal([404, 404]);
  });

  it("has the paths of its options, behind the stages of the application", async () => {
    await using app = await testApp(
      notesApplication()
        .securityHeaders(new SecurityHeaders())
        .apiDocs({ path: "/api/v1.json", page: "/api/docs", info: { version: "2.0.0" } }),
    );
    const [document, page] = [await app.get("/api/v1.json"), await app.get("/api/docs")];

    expect(await document.text()).to.include('"version":"2.0.0"');
    expect(document.headers.get("x-content-type-options")).to.equal("nosniff");
    expect(await page.text())
      .to.include('{"url":".\\/v1.json"}')
      .and.include('src="./docs/viewer.js"');
    expect((await app.get("/api/docs/viewer.js")).headers.get("content-type")).to.include("text/javascript");
    expect((await app.get("/openapi.json")).status).to.equal(404);
  });

  for (const [options, url] of [
    [{ page: "/" }, "./openapi.json"],
    [{ path: "/" }, "./"],
    [{ path: "/api:v1/openapi.json" }, "./api:v1/openapi.json"],
    [{ page: "/api/docs" }, "./../openapi.json"],
  ] as const)
    it(`finds the document and the viewer from ${JSON.stringify(options)}`, async () => {
      await using app = await testApp(notesApplication().apiDocs(options));
      const page = new URL("page" in options ? options.page : "/docs", app.url);
      const text = (await (await app.get(page.pathname)).text()).replaceAll("\\/", "/");
      const [, viewer = ""] = /src="([^"]+)"/.exec(text) ?? [];

      expect(text).to.include(`{"url":"${url}"}`);
      const paths = [url, viewer].map((each) => new URL(each, page).pathname);
      expect(await Promise.all(paths.map(async (path) => (await app.get(path)).status))).to.deep.equal([200, 200]);
    });

  it("has no other file of the viewer's package", async () => {
    await using app = await testApp(notesApplication().apiDocs());

    for (const path of ["swagger-ui-bundle.js", "viewer.js.map", "..%2fpackage.json", "%2e%2e/%2e%2e/package.json"])
      expect((await app.get(`/docs/${path}`)).status).to.equal(404);
  });

  it("has no page with page: false", async () => {
    await using app = await testApp(notesApplication().apiDocs({ page: false }));

    expect([(await app.get("/openapi.json")).status, (await app.get("/docs")).status]).to.deep.equal([200, 404]);
  });

  it("gives the page a new nonce for each response, and a policy without another origin", async () => {
    await using app = await testApp(
      notesApplication().securityHeaders(new SecurityHeaders().withCspNonce("script-src 'nonce-{nonce}'")).apiDocs(),
    );
    const policies: string[] = [];
    for (let count = 0; count < 2; count++) {
      const response = await app.get("/docs");
      const policy = response.headers.get("content-security-policy") ?? "";
      const [, nonce = ""] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
      const tags = (await response.text()).match(/<(?:script|style|link rel="stylesheet")[^>]*>/g) ?? [];
      expect(tags).to.have.lengthOf(4);
      expect(tags.filter((tag) => !tag.includes(`nonce="${nonce}"`))).to.deep.equal([]);
      policies.push(policy);
    }

    expect(policies[0]).to.not.equal(policies[1]);
    expect(policies[0])
      .to.include("default-src 'none'")
      .and.include("connect-src 'self'")
      .and.not.match(/unsafe|https?:/);
    expect(CspNonce.name).to.equal("CspNonce");
  });

  it("escapes the title and the paths in the page", async () => {
    const hostile = "</title></script><!--<script>alert(1)</script>";
    await using app = await testApp(
      notesApplication().apiDocs({ path: "/a'</script><!--.json", info: { title: hostile } }),
    );
    const text = await (await app.get("/docs")).text();

    expect(text).to.include("<title>&lt;/title&gt;&lt;/script&gt;&lt;!--");
    expect(text.match(/<\/script>/g)).to.have.lengthOf(2);
    expect(text).to.not.include("<!--");
  });

  it("names the refusals of the CSRF stage where it is on, except of exempt routes", () => {
    const application = notesApplication()
      .session(new SessionConfig("5e".repeat(64)))
      .csrf(new CsrfConfig())
      .build();
    const { paths } = createOpenApi(application);
    const statusesOf = (path: string) => Object.keys(Object(Reflect.get(Object(paths[path]?.["post"]), "responses")));

    expect(statusesOf("/notes")).to.include("403");
    expect(statusesOf("/notes/hook")).to.not.include("403");
  });

  it("reports all its faults with the others of the start", () => {
    const dates = Route.of(Get("/dates", { responses: { 200: z.date() } }), () => new Date());
    const error = startupErrorOf(() =>
      Application.create()
        .routes(new Routes([dates, Route.get("x", () => "")]))
        .apiDocs()
        .apiDocs()
        .build(),
    );

    expect(error.diagnostics.map(({ code }) => code)).to.have.members([
      "E_STAGE_TWICE",
      "E_ROUTE_PATH",
      "E_OPENAPI_SCHEMA",
    ]);
  });

  it("reports a route of the application at one of its paths, and an unknown option", () => {
    const taken = new Routes([Route.get("/docs", () => "mine")]);
    const errors = [
      startupErrorOf(() => Application.create().routes(taken).apiDocs().build()),
      startupErrorOf(() =>
        Application.create()
          .apiDocs(JSON.parse('{ "pages": "/docs" }') as object)
          .build(),
      ),
    ];

    expect(errors.map(({ diagnostics }) => diagnostics[0]?.code)).to.deep.equal(["E_ROUTE_DUPLICATE", "E_OPTION"]);
  });

  it("refuses a path with captures, one that is no text, an unknown version, and options that are no objects", () => {
    const paths = [{ page: "/{team}/docs" }, { path: "/{team}.json" }, { page: true }];
    const noObjects = [{ info: null }, { texts: [] }, { securitySchemes: "bearer" }];
    for (const options of [...paths, { version: "4.0" }, ...noObjects]) {
      const { diagnostics } = startupErrorOf(() =>
        Application.create()
          .apiDocs(options as object)
          .build(),
      );

      expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_OPTION"]);
    }
  });

  it("leaves the fault of a wrong response to the contract", () => {
    const wrong = { "application/problem+json": z.string() } as unknown as z.ZodString;
    const show = Get("/notes", { responses: { 409: wrong } });
    const { diagnostics } = startupErrorOf(() =>
      Application.create()
        .routes(new Routes([Route.of(show, () => undefined as never)]))
        .apiDocs({ page: false })
        .build(),
    );

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_CONTRACT"]);
  });

  it("lets schemas without a JSON Schema be where it is not called", () => {
    const dates = Route.of(Get("/dates", { responses: { 200: z.date() } }), () => new Date());

    expect(
      Application.create()
        .routes(new Routes([dates]))
        .build()
        .routes()
        .descriptors(),
    ).to.have.lengthOf(1);
  });
});
