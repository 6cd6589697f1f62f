import { createServer, METHODS, type Server } from "node:http";
import { expect } from "chai";
import { Router } from "@koa/router";
import * as fc from "fast-check";
import Koa from "koa";
import type { Context } from "../../lib/http/request/context.js";
import type { Next } from "../../lib/http/middleware.js";
import type { Method } from "../../lib/endpoints/method.js";
import { Path } from "../../lib/endpoints/path.js";
import { toCanonicalPath } from "../../lib/endpoints/percent-encoding.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Middleware, middleware } from "../../lib/routing/middleware.js";
import { Route } from "../../lib/routing/route.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { BoundRoute, Matcher, type Match } from "../../lib/routing/matcher.js";
import { Routes } from "../../lib/routing/routes.js";
import { requestPath, template } from "../endpoints/templates.js";
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

describe("the layers of the table", () => {
  const methods: readonly Method[] = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "ANY"];
  const declaration: fc.Arbitrary<Declared> = fc.record({ method: fc.constantFrom(...methods), path: template() });
  const table = fc.uniqueArray(declaration, {
    selector: ({ method, path }) => `${method} ${Path.of(path).shape}`,
    maxLength: 10,
  });

  it("match the requests that the index matches, with the same parameters and methods", () => {
    fc.assert(
      fc.property(table, fc.constantFrom(...METHODS), requestPath(), (declarations, method, path) => {
        // The index accepts every percent-encoding of a path. A layer compares with the canonical one.
        const canonical = toCanonicalPath(path) ?? path;
        const bound = declarations.map((each) => new BoundRoute(each.method, Path.of(each.path), () => {}));

        const match = new Matcher(bound).match(method, path);
        const layers = createNamed(declarations).router().match(canonical, method);

        expect(describeLayers(layers, canonical)).to.deep.equal(describeMatch(match, bound, path));
      }),
      { numRuns: 2000 },
    );
  });

  it("create the URLs that the table creates", () => {
    const values = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }), {
      minLength: 5,
      maxLength: 5,
    });
    fc.assert(
      fc.property(template(), values, (path, given) => {
        const routes = createNamed([{ method: "GET", path }]);
        const params = given.slice(0, Path.of(path).names.length);
        fc.pre(params.every((value) => value.split("/").every((part) => !/^\.{1,2}$/.test(part))));
        fc.pre(!params.at(-1)?.startsWith("/"));

        // @koa/router creates no list of segments for a wildcard, so its value has to be encoded already.
        const rest = (params.at(-1) ?? "").split("/").map(encodeURIComponent).join("/");
        const encoded = [...params.slice(0, -1).map(encodeURIComponent), rest, { encode: false }];
        const url = routes.router().url("r0", ...(path.endsWith("{*rest}") ? encoded : params));

        expect(url).to.equal(routes.urlFor("r0", params));
      }),
    );
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
    routes.seal(
      routes.listRows().map(({ route }) => ({ route, getInstance: (target) => Reflect.construct(target, ["built"]) })),
    );

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

interface Declared {
  readonly method: Method;
  readonly path: string;
}

/** Routes with the names `r0`, `r1`… */
function createNamed(declarations: readonly Declared[]): Routes {
  const named = declarations.map(({ method, path }, at) =>
    Route.declared({ method, path, name: `r${at}`, pages: [] }, () => ""),
  );
  return new Routes(named);
}

function describeMatch(match: Match, bound: readonly BoundRoute[], path: string): unknown {
  if (match.kind === "route") return { name: `r${bound.indexOf(match)}`, params: { ...match.params(path) } };
  return "allow" in match ? match.allow : match.kind;
}

function describeLayers({ path: all, pathAndMethod }: ReturnType<Router["match"]>, path: string): unknown {
  const [layer] = pathAndMethod;
  if (layer !== undefined) return { name: layer.name, params: layer.params(path, layer.captures(path)) };
  if (all.length === 0) return "not-found";
  return [...new Set([...all.flatMap(({ methods }) => methods), "OPTIONS"])].toSorted().join(", ");
}
