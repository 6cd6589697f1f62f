import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Application } from "../../../lib/app/application.js";
import type { ApplicationBuilder } from "../../../lib/app/builder.js";
import { ErrorMapping } from "../../../lib/stages/error-mapping.js";
import type { Context } from "../../../lib/http/request/context.js";
import type { Next } from "../../../lib/http/middleware.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { eventsOf } from "../../support/events-of.js";
import { PATIENT } from "../../support/patient.js";
import { startupErrorOf } from "../../support/startup-error-of.js";
import { StaticSite } from "../../support/static-site.js";

describe("Static files as the router's fallback", () => {
  let site: StaticSite;
  StaticSite.forEachTest((fresh) => (site = fresh));

  function application(): ApplicationBuilder {
    const routes = new Routes([Route.get("/taken.txt", () => "the route"), Route.get("/any/{name}", () => "any")]);
    return Application.create().routes(routes).staticFiles({ root: site.root });
  }

  it("serve requests that no route matches, and never the path of a route", async () => {
    for (const path of ["free.txt", "taken.txt", "any/a.txt"]) site.put(path, "the file");
    await using app = await testApp(application());

    const texts = await Promise.all(
      ["/free.txt", "/taken.txt", "/any/a.txt"].map(async (path) => (await app.get(path)).text()),
    );

    expect(texts).to.deep.equal(["the file", "the route", "any"]);
  });

  for (const [what, make, warnings] of [
    ["warns when it does not exist", () => {}, 1],
    ["warns when it is a file", (root: string) => writeFileSync(root, ""), 1],
    ["does not warn when it was created after the build", (root: string) => (mkdirSync(root), undefined), 0],
  ] as const) {
    it(`check their directory when serving starts, which ${what}`, async () => {
      const root = join(site.folder, "later");
      const built = Application.create().staticFiles({ root }).build();
      make(root);

      const events = await eventsOf(async () => {
        const running = await built.start();
        await running.stop();
      });

      const told = `WARN framework::lifecycle: the directory of .staticFiles(…) does not exist: no file of it is served root=${root}`;
      expect(events.filter((event) => event.startsWith("WARN"))).to.deep.equal(Array(warnings).fill(told));
    });
  }

  it("do not change the 405 of a path with routes", async () => {
    site.put("taken.txt", "the file");
    await using app = await testApp(application());

    const response = await app.post("/taken.txt");

    expect([response.status, response.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
  });

  it("pass the layers of the application, and so does the 404 of a missing file", async () => {
    site.put("a.txt", "a");
    const seen: unknown[] = [];
    const builder = application().layer(async (ctx: { path: string; status: number }, next: () => Promise<void>) => {
      await next();
      seen.push([ctx.path, ctx.status]);
    });
    await using app = await testApp(builder);

    await app.get("/a.txt");
    await app.get("/b.txt");

    expect(seen).to.deep.equal([
      ["/a.txt", 200],
      ["/b.txt", 404],
    ]);
  });

  it("forbid caches to store the 404 of a missing file, with any body", async () => {
    for (const builder of [
      application(),
      application().errorMapping(),
      application().errorMapping(new ErrorMapping().using(page)),
    ]) {
      await using app = await testApp(builder);

      for (const path of ["/build/app-BX3kd9aZ.js", "/.env", "/"]) {
        const { status, headers } = await app.get(path);
        expect([status, headers.get("cache-control")]).to.deep.equal([404, "no-store"]);
      }
    }
  });

  it("add no Cache-Control to a 404 that has one, to that of a route, or to another response instead of it", async () => {
    const routes = new Routes([Route.get("/gone", (ctx) => void (ctx.status = 404))]);
    const builder = Application.create()
      .routes(routes)
      .staticFiles({ root: site.root })
      .layer(async (ctx: Context, next: Next) => {
        await next();
        if (ctx.path === "/page") ctx.body = "the page for every path";
        if (ctx.path === "/kept") ctx.set("Cache-Control", "max-age=5");
      });
    await using app = await testApp(builder);

    const responses = [await app.get("/gone"), await app.get("/page"), await app.get("/kept")];

    expect(responses.map(({ status, headers }) => [status, headers.get("cache-control")])).to.deep.equal([
      [404, null],
      [200, null],
      [404, "max-age=5"],
    ]);
  });

  it("get a problem from the error mapping, without headers of the file", async () => {
    site.put("a.txt", "0123456789");
    await using app = await testApp(application().errorMapping());

    const responses = [
      await app.post("/a.txt"),
      await app.get("/a.txt", { headers: { "if-match": '"x"' } }),
      await app.get("/a.txt", { headers: { range: "bytes=10-" } }),
    ];

    expect(responses.map(({ status }) => status)).to.deep.equal([405, 412, 416]);
    for (const { headers } of responses) {
      expect(headers.get("content-type")).to.equal("application/problem+json");
      expect([headers.get("cache-control"), headers.get("etag")]).to.deep.equal([null, null]);
    }
  });

  it("leave a malformed path to the router, which refuses it", async () => {
    await using app = await testApp(application());

    expect((await app.raw("GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", PATIENT)).toString()).to.match(
      /^HTTP\/1\.1 400 /,
    );
  });

  it("do not respond to OPTIONS *", async () => {
    await using app = await testApp(application());

    expect((await app.raw("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", PATIENT)).toString()).to.match(
      /^HTTP\/1\.1 204 /,
    );
  });

  it("appear in the pipeline only when they are on", () => {
    expect([isOn(application()), isOn(Application.create())]).to.deep.equal([true, false]);
  });

  it("are a diagnostic at the start when their settings are wrong", () => {
    site.put("build/.vite/manifest.json", "{");

    const error = startupErrorOf(() => application().build());

    expect(String(error)).to.contain("E_STATIC_MANIFEST");
  });
});

function page(_error: unknown, { status }: Context): Reply | undefined {
  return status === 404 ? Reply.html("nothing here") : undefined;
}

function isOn(builder: ApplicationBuilder): boolean | undefined {
  const rows = builder.build().pipeline();
  return rows.find(({ slot }) => slot === "staticFiles")?.on;
}
