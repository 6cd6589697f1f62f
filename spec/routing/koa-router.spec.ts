import { createServer, type Server } from "node:http";
import { expect } from "chai";
import { Router } from "@koa/router";
import Koa from "koa";
import type { Context } from "../../lib/http/request/context.js";
import type { Next } from "../../lib/http/middleware.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Middleware, middleware } from "../../lib/routing/middleware.js";
import { Route } from "../../lib/routing/route.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { Routes } from "../../lib/routing/routes.js";
import { listening, type Listening } from "../support/listening.js";

const tagging = (tag: string) => async (ctx: Koa.Context, next: Next) => {
  ctx.append("x-order", tag);
  await next();
};
const First = middleware(tagging("first"), "first");

describe("the @koa/router of a collection", () => {
  const routes = Routes.of(
    Route.any("/links/{id}", ({ params }) => `any ${params.id}`),
    Route.get("/links/{id}", ({ params }) => `get ${params.id}`).name("links.show"),
    Route.head("/links/{id}", (ctx) => ctx.set("x-head", "own")),
    Route.get("/links/new", () => "new"),
    Route.get("/{*rest}", ({ params }) => ({ rest: params.rest })),
    Route.get("/a:b(c)", () => Reply.created("/x", { made: true })),
    Route.post("/nothing", (ctx) => {
      ctx.status = 202;
    }),
    new RouteGroup("/in", [Route.get("/", () => "in").middleware(new First())]).middleware(First).layer(tagging("koa")),
  ).layer(tagging("all"));
  let server: Listening<Server>;
  let base: string;

  before(async () => {
    const router = routes.intoRouter();
    router.get("/added", (ctx) => {
      ctx.body = "added";
    });
    const app = new Koa();
    app.use(router.routes());
    server = await serving(app);
    base = server.url;
  });

  after(() => server[Symbol.dispose]());

  const rows: readonly (readonly [request: string, status: number, body: string])[] = [
    ["GET /links/7", 200, "get 7"],
    ["GET /links/a%20b", 200, "get a b"],
    ["GET /links/new", 200, "new"],
    ["PUT /links/7", 200, "any 7"],
    ["DELETE /links/new", 200, "any new"],
    ["GET /links/7/", 200, '{"rest":"links/7/"}'],
    ["GET /Links/7", 200, '{"rest":"Links/7"}'],
    ["GET /a:b(c)", 201, '{"made":true}'],
    ["GET /in", 200, "in"],
    ["PUT /nowhere", 404, "Not Found"],
  ];
  for (const [line, status, body] of rows) {
    it(`responds to ${line} with ${status} ${body}`, async () => {
      const [method = "", path = ""] = line.split(" ");

      const response = await fetch(base + path, { method });

      expect([response.status, await response.text()]).to.deep.equal([status, body]);
    });
  }

  it("runs the middleware of the routes, outermost first", async () => {
    const response = await fetch(`${base}/in`);

    expect(response.headers.get("x-order")).to.equal("all, first, koa, first");
  });

  it("can be nested in another router, and another router in it", async () => {
    const inner = new Router().get("/own", (ctx) => {
      ctx.body = "own";
    });
    const router = Routes.of(Route.get("/links/{id}", ({ params }) => `get ${params.id}`)).router();
    router.use("/taken", inner.routes());
    const outer = new Router().use("/nested", router.routes());
    const app = new Koa();
    app.use(outer.routes());
    using other = await serving(app);

    const nested = await fetch(`${other.url}/nested/links/7`);
    const taken = await fetch(`${other.url}/nested/taken/own`);

    expect(await nested.text()).to.equal("get 7");
    expect(await taken.text()).to.equal("own");
  });

  it("prefers a HEAD route to the GET that would handle HEAD", async () => {
    const response = await fetch(`${base}/links/7`, { method: "HEAD" });

    expect(response.headers.get("x-head")).to.equal("own");
  });

  it("applies a Reply to Koa's context", async () => {
    const response = await fetch(`${base}/a:b(c)`);

    expect(response.headers.get("location")).to.equal("/x");
    expect(response.headers.get("content-type")).to.equal("application/json");
  });

  it("keeps a response that the handler has written itself", async () => {
    const response = await fetch(`${base}/nothing`, { method: "POST" });

    expect(response.status).to.equal(202);
  });
});

describe("routes that the application adds to a router", () => {
  it("are distinguished from the routes of the collection", () => {
    const routes = Routes.of(Route.get("/own", () => ""));
    const outer = new Routes().merge(routes);

    const before = [routes.hasAddedRoutes, outer.hasAddedRoutes];
    routes.router().get("/added", () => {});

    expect(before).to.deep.equal([false, false]);
    expect([routes.hasAddedRoutes, outer.hasAddedRoutes]).to.deep.equal([true, true]);
    expect(outer.listRoutersWithAddedRoutes()).to.deep.equal([routes.router()]);
  });

  it("stay behind the routes of the collection when routes are merged later", () => {
    const routes = Routes.of(Route.get("/own/{id}", () => ""));
    const router = routes.router();
    router.get("/added", () => {});

    routes.merge(Routes.of(Route.get("/own/new", () => "")));

    expect(routes.router()).to.equal(router);
    expect(router.stack.map(({ path }) => path)).to.deep.equal(["/own/new", "/own/:id", "/added"]);
  });
});

describe("middleware classes of a router", () => {
  class Needing implements Middleware {
    constructor(readonly value: string) {}
    handle(ctx: Context, next: Next): unknown {
      ctx.set("x-value", this.value);
      return next();
    }
  }

  it("come from the container of the application", async () => {
    const routes = Routes.of(Route.get("/x", () => "x").middleware(Needing));
    routes.seal((target) => Reflect.construct(target, ["built"]));

    const response = await getResponse(routes, "/x");

    expect(response.headers.get("x-value")).to.equal("built");
  });

  it("are refused without an application if they need injection", async () => {
    const routes = Routes.of(Route.get("/x", () => "x").middleware(Needing));

    const response = await getResponse(routes, "/x");

    expect(response.status).to.equal(500);
    expect(response.headers.get("x-error")).to.equal("E_MIDDLEWARE_INJECTION");
  });
});

async function getResponse(routes: Routes, path: string): Promise<Response> {
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      ctx.status = 500;
      ctx.set("x-error", String((error as { readonly code?: string }).code));
      ctx.body = "";
    }
  });
  app.use(routes.router().routes());
  using server = await serving(app);
  return await fetch(server.url + path);
}

function serving(app: Koa): Promise<Listening<Server>> {
  const listener = app.callback();
  return listening(createServer((request, response) => void listener(request, response)));
}
