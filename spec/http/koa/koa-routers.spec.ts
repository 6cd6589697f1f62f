/** Koa's routers as layers: they match before the framework's router, and give their handlers `ctx.params`. */
import http from "node:http";
import { Router } from "@koa/router";
import { Application, Route, Routes, type Context, type KoaMiddleware } from "@stagecraft/framework";
import { expect } from "chai";
import { listening } from "../../support/listening.js";

type Captures = Record<string, string>;

/** The members of a Koa router as its handlers see them. */
interface Routed {
  params: Captures;
  captures?: readonly string[];
  _matchedRoute?: string;
  router?: object;
  request: { params?: Captures };
}

const ID = /^\/old\/([^/]+)$/;

/** The work of koa-router on a request that it matches. Its versions differ in how they make the params. */
function oldRouter(paramsOf: (ctx: Routed, id: string) => Captures): KoaMiddleware {
  return async (context: Context, next) => {
    // Koa's routers know no types of their context.
    const ctx = context as unknown as Context & Routed;
    const id = ID.exec(ctx.path)?.[1];
    ctx.router = {};
    if (id === undefined) return next();
    ctx.captures = [id];
    ctx.params = paramsOf(ctx, id);
    ctx.request.params = ctx.params;
    ctx._matchedRoute = "/old/:id";
    ctx.body = `${ctx.params["id"]} ${ctx.request.params["id"]} ${ctx._matchedRoute}`;
    return undefined;
  };
}

function merged(params: Captures, id: string): Captures {
  params["id"] = id;
  return params;
}

const OLD: readonly (readonly [string, (ctx: Routed, id: string) => Captures])[] = [
  ["assigns new params", (_ctx, id) => ({ id })],
  ["copies the params", (ctx, id) => Object.assign({}, ctx.params, { id })],
  ["adds to the params", (ctx, id) => merged(ctx.params, id)],
  ["adds to the params, or to new ones", (ctx, id) => merged((ctx.params = ctx.params || {}), id)],
];

const routes = new Routes([
  Route.get("/own/{name}", ({ params }) => `own ${JSON.stringify(params)}`),
  Route.get("/plain", ({ params }) => `plain ${JSON.stringify(params)}`),
]);

async function serve(...layers: readonly KoaMiddleware[]) {
  return listening(
    http.createServer(
      Application.create()
        .routes(routes)
        .layer(...layers)
        .build()
        .callback(),
    ),
  );
}

async function get(url: string): Promise<string> {
  const response = await fetch(url);
  return `${response.status} ${await response.text()}`;
}

describe("a Koa router as a layer", () => {
  for (const [what, paramsOf] of OLD) {
    it(`that ${what} gives the params to its handler, and leaves other paths to the routes`, async () => {
      using server = await serve(oldRouter(paramsOf));

      const answers = [await get(`${server.url}/old/7`), await get(`${server.url}/own/a`)];

      expect(answers).to.deep.equal(["200 7 7 /old/:id", '200 own {"name":"a"}']);
    });
  }

  it("from @koa/router gives its params to its handlers, also through nested routers", async () => {
    const inner = new Router();
    inner.get("/links/:id", (ctx) => void (ctx.body = ctx.params));
    const router = new Router();
    router.use("/users/:user", inner.routes());
    using server = await serve(router.routes() as KoaMiddleware, router.allowedMethods() as KoaMiddleware);

    const answers = [await get(`${server.url}/users/ann/links/7`), await get(`${server.url}/own/a`)];

    expect(answers).to.deep.equal(['200 {"user":"ann","id":"7"}', '200 own {"name":"a"}']);
  });

  it("that goes on leaves none of its params to a route", async () => {
    using server = await serve(async (ctx, next) => {
      (ctx as { params: Captures }).params = { stale: "yes" };
      await next();
    });

    const answers = [await get(`${server.url}/own/a`), await get(`${server.url}/plain`)];

    expect(answers).to.deep.equal(['200 own {"name":"a"}', "200 plain {}"]);
  });

  it("adds to the params of one request only", async () => {
    using server = await serve((ctx) => JSON.stringify(merged(ctx.params as Captures, String(ctx.search()["id"]))));

    const answers = [await get(`${server.url}/x?id=1`), await get(`${server.url}/x?id=2`)];

    expect(answers).to.deep.equal(['200 {"id":"1"}', '200 {"id":"2"}']);
  });

  it("at a route without captures may add to its params", async () => {
    const app = Application.create().routes(
      new Routes([
        Route.get("/plain", ({ params }) => JSON.stringify(params)).layer(async (ctx, next) => {
          merged(ctx.params as Captures, "7");
          await next();
        }),
      ]),
    );
    using server = await listening(http.createServer(app.build().callback()));

    expect(await get(`${server.url}/plain`)).to.equal('200 {"id":"7"}');
  });
});
