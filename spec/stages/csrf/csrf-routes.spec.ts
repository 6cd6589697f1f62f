import {
  Any,
  Application,
  Controller,
  Get,
  Module,
  Post,
  Route,
  RouteGroup,
  Routes,
  routes,
  type Context,
  type RouteOptions,
} from "@stagecraft/framework";
import { CsrfConfig, CsrfToken, SessionConfig } from "@stagecraft/framework/session";
import { expectProblem, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

const KEY = "5a".repeat(64);
const hooks = routes("hooks", "/hooks", {
  pay: Post("/pay/{event}", { csrf: "exempt" }),
  fixed: Post("/pay/fixed"),
  any: Any("/any", { csrf: "exempt" }),
});

@Controller(hooks)
class HooksController {
  @hooks.pay
  async pay(ctx: Context) {
    return `${String((await ctx.bytes()).length)} bytes`;
  }

  @hooks.fixed
  fixed() {
    return "fixed";
  }

  @hooks.any
  any(ctx: Context) {
    return CsrfToken.of(ctx).field();
  }
}

@Controller("/api")
class ApiController {
  @Post("/links", { bearer: true })
  create() {
    return "created";
  }

  @Get("/links", { bearer: true })
  list() {
    return "listed";
  }
}

@Module({ controllers: [HooksController, ApiController] })
class HooksModule {}

const group = new RouteGroup("/group", [
  Route.post("/in", () => "in", { csrf: "exempt" }),
  Route.post("/out", () => "out"),
]);
const build = (config = new CsrfConfig()) =>
  Application.create(HooksModule)
    .csrf(config)
    .routes(new Routes([group]));
const start = (config?: CsrfConfig) => testApp(build(config));
const makes = (options: object) => () => Post("/x", options as RouteOptions);
const inertia = { "x-inertia": "true" };

describe("a route that is exempt from the CSRF check", () => {
  it("accepts a request that any other route refuses, and its response sets no cookie", async () => {
    await using app = await start(CsrfConfig.pages());
    const cookie = `XSRF-TOKEN=${"0".repeat(64)}`;
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const headers of [{}, { cookie }, { cookie, ...form }, { "sec-fetch-site": "cross-site" }, inertia]) {
      const taken = await app.post("/hooks/pay/7", { headers, body: "a=1" });
      expect(await taken.text()).to.equal("3 bytes");
      expect(taken.headers.getSetCookie()).to.deep.equal([]);
      expect((await app.post("/group/out", { headers })).status).to.be.oneOf([303, 403]);
    }
    expect(await (await app.post("/group/in")).text()).to.equal("in");
    expect(await (await app.request("/hooks/any", { method: "DELETE" })).text()).to.include("_token");
  });

  it("sets no cookie in an application with a session", async () => {
    await using app = await testApp(build().session(SessionConfig.pages(KEY)));

    const answers = [await app.post("/hooks/pay/7"), await app.request("/hooks/any", { method: "PUT" })];

    for (const { status, headers } of answers) expect([status, headers.getSetCookie()]).to.deep.equal([200, []]);
  });

  it("is found by the match of the router", async () => {
    await using app = await start();

    for (const path of [
      "/hooks/pay/fixed",
      "/hooks/pay/",
      "/hooks/pay/7/8",
      "/HOOKS/pay/7",
      "/hooks/pay/%zz",
      "/nowhere",
    ])
      expect((await app.post(path)).status, path).to.equal(403);
    expect((await app.post("/hooks/pay/fix%65d")).status).to.equal(403);
    expect((await app.request("/hooks/pay/7", { method: "PUT" })).status).to.equal(403);
  });

  it("stands in the graph and in the start-up log", async () => {
    await using app = await start();
    const titles = ["POST /hooks/pay/{event}", "ANY /hooks/any", "POST /group/in"];

    const event = app.logs.lines().find((line) => line.includes("exempt from the CSRF check")) ?? "{}";
    const listed = app.application.graph().routes.filter(({ csrf }) => csrf === "exempt");

    expect(JSON.parse(event)).to.deep.include({ level: "INFO", fields: { routes: titles } });
    expect(listed.map(({ method, path }) => `${method} ${path}`)).to.have.members(titles);
  });

  it("has no event if the stage is off", async () => {
    await using app = await testApp(Application.create(HooksModule));

    expect((await app.post("/group/in")).status).to.equal(404);
    expect(app.logs.lines().join("\n")).not.to.include("exempt");
  });
});

describe("a route that takes bearer tokens", () => {
  it("sends 401 in place of the 403 of the CSRF check, and sets no cookie", async () => {
    await using app = await start(CsrfConfig.pages());

    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, inertia, { authorization: "Basic b2Y6bWU=" }]) {
      const refused = await app.post("/api/links", { headers });
      await expectProblem(refused, { status: 401, slug: "authentication", detail: "This route needs a bearer token." });
      expect(refused.headers.get("www-authenticate")).to.equal("Bearer");
      expect(refused.headers.getSetCookie()).to.deep.equal([]);
    }
    const authorization = "Bearer of-a-program";
    expect(await (await app.post("/api/links", { headers: { authorization } })).text()).to.equal("created");
    expect(await (await app.get("/api/links")).text()).to.equal("listed");
  });
});

describe("the options of a route", () => {
  it("are refused by name where they have no meaning", () => {
    // @ts-expect-error a route is exempt or not
    expect(() => Post("/x", { csrf: "off" })).to.throw('Post("/x"): csrf is "exempt" or left out');
    expect(makes({ csrf: false })).to.throw('Post("/x"): csrf is "exempt" or left out');
    expect(makes({ bearer: "yes" })).to.throw("bearer is true or false");
    expect(() => Route.post("/x", () => "", { exempt: true } as RouteOptions)).to.throw(
      'POST /x: "exempt" is not an option',
    );
  });
});

describe("a refusal of the CSRF check", () => {
  it("says in its event what a page, a program and a webhook send", async () => {
    await using app = await start();

    await app.post("/group/out");

    const event = app.logs.lines().find((line) => line.includes("request refused"));
    expect(event).to.include("missing CSRF cookie").and.to.include("Authorization: Bearer").and.to.include("exempt");
  });
});
