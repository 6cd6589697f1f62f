import { expect } from "chai";
import { Application } from "../../../lib/app/application.js";
import { ForbiddenError, NotFoundError, UnavailableError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { provide } from "../../../lib/di/provide.js";
import { Clock } from "../../../lib/runtime/clock.js";
import { ErrorMapping } from "../../../lib/stages/error-mapping.js";
import { Maintenance } from "../../../lib/stages/maintenance/maintenance.js";
import { Page } from "../../../lib/stages/pages/page.js";
import { Pages } from "../../../lib/stages/pages/pages.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { errorOf } from "../../support/error-of.js";
import { inertia, pageIn, pagesApplication, type PageData } from "../../support/page-visit.js";
import { until } from "../../support/until.js";
import { startupErrorOf } from "../../support/startup-error-of.js";

const ERRORS = { 404: "errors/missing", 403: "errors/denied", "5xx": "errors/failure" };
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

const FAILURES: Readonly<Record<string, (ctx: Context) => unknown>> = {
  "/missing": () => Promise.reject(new NotFoundError("no link")),
  "/status": (ctx) => void (ctx.status = 404),
  "/down": () => Promise.reject(new UnavailableError("later")),
  "/panic": () => Promise.reject(new Error("secret")),
  "/gone": (ctx) => void (ctx.status = 410),
  "/own": (ctx) => ((ctx.status = 404), "my own text"),
  "/own-page": () => Page.of("own").status(404),
  "/csrf": () => Promise.reject(new ForbiddenError("CSRF token mismatch", { slug: "csrf" })),
  "/slow": () => new Promise(() => undefined),
};

const application = (share: Record<string, unknown> = {}, change?: Parameters<typeof pagesApplication>[2]) =>
  pagesApplication(
    (ctx) => FAILURES[ctx.path]?.(ctx),
    { errors: ERRORS, share },
    (builder) => (change ?? ((each) => each))(builder.catchPanic().errorMapping()),
  );

describe("an error page", () => {
  const rows = [
    ["/missing", 404, "errors/missing"],
    ["/status", 404, "errors/missing"],
    ["/down", 503, "errors/failure"],
    ["/panic", 500, "errors/failure"],
  ] as const;
  for (const [path, status, component] of rows) {
    it(`is shown in both forms: ${path}`, async () => {
      await using app = await testApp(application());

      const document = await app.get(path, { headers: BROWSER });
      const later = await app.get(path, { headers: inertia() });

      expect([document.status, later.status]).to.deep.equal([status, status]);
      expect(document.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(pageIn(await document.text())).to.deep.include({ component, props: { errors: {}, status } });
      expect(later.headers.get("x-inertia")).to.equal("true");
      expect(await later.json<PageData>()).to.deep.include({ component, props: { errors: {}, status }, url: path });
    });
  }

  it("has the shared props and the headers of the error", async () => {
    const down = new UnavailableError("later", { headers: { "Retry-After": "7" } });
    await using app = await testApp(
      pagesApplication(() => Promise.reject(down), { errors: ERRORS, share: { user: async () => "ann" } }),
    );

    const response = await app.get("/", { headers: inertia() });

    expect(response.headers.get("retry-after")).to.equal("7");
    expect((await response.json<PageData>()).props).to.deep.equal({ errors: {}, user: "ann", status: 503 });
  });

  it("is written without the shared props if these fail", async () => {
    await using app = await testApp(application({ user: () => Promise.reject(new Error("the database is down")) }));

    const response = await app.get("/missing", { headers: inertia() });

    expect((await response.json<PageData>()).props).to.deep.equal({ errors: {}, status: 404 });
    expect(app.logs.transcript()).to.contain("error page failed").and.contain("the database is down");
  });

  it("is written without the shared props if these take too long", async () => {
    const clock = new FakeClock();
    let asked = 0;
    const share = { user: () => new Promise(() => asked++) };
    await using app = await testApp(application(share, (builder) => builder.provide(provide(Clock).useValue(clock))));

    const answer = app.get("/missing", { headers: inertia() });
    await until(() => asked > 0);
    clock.advance(1000);

    expect((await (await answer).json<PageData>()).props).to.deep.equal({ errors: {}, status: 404 });
  });

  it("is shown for refusals of outer stages", async () => {
    const maintenance = Maintenance.engaged();
    await using app = await testApp(application({}, (builder) => builder.maintenance(maintenance)));

    const response = await app.get("/missing", { headers: BROWSER });

    expect([response.status, response.headers.get("retry-after")]).to.deep.equal([503, "60"]);
    expect(pageIn(await response.text()).component).to.equal("errors/failure");
  });

  it("is shown for a path without a route, and for a request that takes too long", async () => {
    const clock = new FakeClock();
    const errors = { "4xx": "errors/refused" };
    let began = 0;
    const builder = Application.create()
      .pages(new Pages({ errors, share: { user: "ann" } }))
      .layer((ctx: Context, next) => (ctx.path === "/slow" ? new Promise(() => began++) : next()))
      .timeout(1000)
      .provide(provide(Clock).useValue(clock));
    await using app = await testApp(builder);

    const missing = await app.get("/nowhere", { headers: inertia() });
    const slow = app.get("/slow", { headers: inertia() });
    await until(() => began > 0);
    clock.advance(1000);

    expect([missing.status, (await slow).status]).to.deep.equal([404, 408]);
    expect((await missing.json<PageData>()).props).to.deep.equal({ errors: {}, user: "ann", status: 404 });
    expect((await (await slow).json<PageData>()).props).to.deep.equal({ errors: {}, user: "ann", status: 408 });
  });

  const problems: readonly (readonly [string, string, Record<string, string>])[] = [
    ["a program that accepts anything", "/missing", { Accept: "*/*" }],
    ["a program that accepts JSON", "/missing", { Accept: "application/json" }],
    ["a program that refuses HTML", "/missing", { Accept: "text/html;q=0, */*" }],
    ["a program that says nothing", "/missing", {}],
    ["a status without a component", "/gone", BROWSER],
    ["a refusal for CSRF", "/csrf", BROWSER],
    ["a refusal for CSRF of the Inertia client", "/csrf", inertia()],
    ["a precognition", "/missing", { ...BROWSER, Precognition: "true" }],
  ];
  for (const [what, path, headers] of problems) {
    it(`is a problem for ${what}`, async () => {
      await using app = await testApp(application());

      expect((await app.get(path, { headers })).headers.get("content-type")).to.equal("application/problem+json");
    });
  }

  it("does not replace a response of the application", async () => {
    const mapping = new ErrorMapping().using((_error, ctx) => (ctx.path === "/down" ? Reply.html("mine") : undefined));
    const builder = pagesApplication(
      (ctx) => FAILURES[ctx.path]?.(ctx),
      { errors: ERRORS },
      (each) => each.errorMapping(mapping),
    );
    await using app = await testApp(builder);

    const texts = await Promise.all(
      ["/own", "/down"].map(async (path) => (await app.get(path, { headers: BROWSER })).text()),
    );
    const own = await app.get("/own-page", { headers: inertia() });

    expect(texts).to.deep.equal(["my own text", "mine"]);
    expect((await own.json<PageData>()).component).to.equal("own");
  });

  it("depends on Accept, and names it in Vary", async () => {
    await using app = await testApp(application());

    for (const headers of [BROWSER, { Accept: "application/json" }]) {
      expect((await app.get("/missing", { headers })).headers.get("vary")).to.equal("Accept, X-Inertia");
    }
  });

  it("is refused for a wrong status and for a wrong component", () => {
    for (const errors of [{ 200: "x" }, { "6xx": "x" }, { 404: "" }, [] as never, { 404: 5 as never }]) {
      if (Array.isArray(errors)) continue;
      expect(errorOf(() => new Pages({ errors }))).to.have.property("code", "E_PAGES_OPTION");
    }
  });

  it("is not on by itself: a value that is not a Pages is a fault of the builder", () => {
    const { diagnostics } = startupErrorOf(() =>
      Application.create()
        .pages({} as never)
        .build(),
    );

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_STAGE"]);
  });
});
