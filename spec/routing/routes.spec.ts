import { expect } from "chai";
import type { KoaMiddleware, Middleware, Next } from "../../lib/http/middleware.js";
import type { Context } from "../../lib/http/request/context.js";
import { NotFoundError } from "../../lib/errors/framework-error.js";
import { Route } from "../../lib/routing/route.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { findHealthCollisions } from "../../lib/routing/route-diagnostics.js";
import { Routes } from "../../lib/routing/routes.js";
import { errorOf } from "../support/error-of.js";

describe("Routes", () => {
  it("describes every route, in the order of declaration", () => {
    const routes = new Routes([
      Route.get("/", home).name("home"),
      new RouteGroup("/links", [
        Route.get("/", () => "all").name("links.index"),
        new RouteGroup("{id}", [Route.delete("", remove), Route.any("raw", home)]),
      ]),
    ]);

    const descriptors = routes.descriptors();

    expect(descriptors).to.deep.equal([
      { method: "GET", path: "/", handler: "home", name: "home", pages: [] },
      { method: "GET", path: "/links", handler: "anonymous", name: "links.index", pages: [] },
      { method: "DELETE", path: "/links/{id}", handler: "remove", name: undefined, pages: [] },
      { method: "ANY", path: "/links/{id}/raw", handler: "home", name: undefined, pages: [] },
    ]);
    expect(descriptors.every(Object.isFrozen)).to.equal(true);
  });

  it("has a static method of Route for every HTTP method", () => {
    const routes = Routes.of(
      Route.get("/x", home),
      Route.post("/x", home),
      Route.put("/x", home),
      Route.patch("/x", home),
      Route.delete("/x", home),
      Route.head("/x", home),
      Route.options("/x", home),
      Route.any("/x", home),
    );

    const methods = routes.descriptors().map(({ method }) => method);

    expect(methods).to.deep.equal(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY"]);
  });

  describe("middleware", () => {
    const a = marker("a");
    const b = marker("b");
    const c = marker("c");
    const d = marker("d");
    const e = marker("e");

    it("of a route covers that route only", () => {
      const routes = Routes.of(Route.get("/x", home).middleware(a), Route.get("/y", home));

      expect(around(routes)).to.deep.equal({ "/x": [a], "/y": [] });
    });

    it("of a group covers each of its routes and no sibling", () => {
      const routes = Routes.of(
        new RouteGroup("/in", [Route.get("/x", home), Route.get("/y", home)]).middleware(a),
        new RouteGroup("/by", [Route.get("/x", home)]),
        Route.get("/out", home),
      );

      expect(around(routes)).to.deep.equal({ "/in/x": [a], "/in/y": [a], "/by/x": [], "/out": [] });
    });

    it("of a collection covers the routes present at the call, not routes merged afterwards", () => {
      const other = Routes.of(Route.get("/late", home).middleware(c)).middleware(b);
      const routes = Routes.of(Route.get("/x", home)).middleware(a).merge(other);

      expect(around(routes)).to.deep.equal({ "/x": [a], "/late": [b, c] });
      expect(routes.listUncovered().map(({ path }) => path)).to.deep.equal(["/late"]);
    });

    it("of a collection covers routes that were merged before", () => {
      const routes = Routes.of(Route.get("/x", home))
        .merge(Routes.of(Route.get("/early", home)))
        .middleware(a);

      expect(around(routes)).to.deep.equal({ "/x": [a], "/early": [a] });
      expect(routes.listUncovered()).to.deep.equal([]);
    });

    it("of a merged collection does not cover routes that this collection merged afterwards", () => {
      const inner = Routes.of(Route.get("/x", home))
        .middleware(a)
        .merge(Routes.of(Route.get("/late", home)));
      const routes = new Routes().merge(inner).middleware(b);

      expect(around(routes)).to.deep.equal({ "/x": [b, a], "/late": [b] });
      expect(routes.listUncovered().map(({ path }) => path)).to.deep.equal(["/late"]);
    });

    it("leaves a route uncovered, which is reported once where two collections leave it out", () => {
      const inner = Routes.of(Route.get("/x", home))
        .middleware(a)
        .merge(Routes.of(Route.get("/late", home)));
      const routes = Routes.of(Route.get("/y", home)).middleware(b).merge(inner);

      expect(routes.listUncovered().map(({ path }) => path)).to.deep.equal(["/x", "/late"]);
    });

    it("of a collection is outside that of a group, and that of a group outside that of a route, the first call outermost", () => {
      const routes = Routes.of(
        new RouteGroup("/o", [
          new RouteGroup("/i", [Route.get("/x", home).layer(koa).middleware(a, b)]).middleware(c),
        ]).middleware(d),
      )
        .layer(koa)
        .middleware(e);

      expect(around(routes)).to.deep.equal({ "/o/i/x": [koa, e, d, c, koa, a, b] });
    });

    it("of a group or a route counts, even if a collection has that group or route already", () => {
      const route = Route.get("/x", home);
      const group = new RouteGroup("/g", [route]);
      const routes = Routes.of(group);

      route.middleware(a);
      group.middleware(b);

      expect(around(routes)).to.deep.equal({ "/g/x": [b, a] });
    });
  });

  describe("names", () => {
    const routes = Routes.of(
      Route.get("/teams/{team}/links/{id}", home).name("links.show"),
      Route.get("/files/{*rest}", home).name("files"),
      Route.get("/", home),
    ).merge(Routes.of(Route.get("/about", home).name("about")));

    it("are listed with their path templates, in name order, as a snapshot", () => {
      const named = routes.named();

      expect(named).to.deep.equal([
        ["about", "/about"],
        ["files", "/files/{*rest}"],
        ["links.show", "/teams/{team}/links/{id}"],
      ]);
      expect(named).not.to.equal(routes.named());
    });

    it("become URLs, with the parameters in the order of the template", () => {
      expect(routes.urlFor("links.show", ["red team", 7])).to.equal("/teams/red%20team/links/7");
      expect(routes.urlFor("files", ["a/b c"])).to.equal("/files/a/b%20c");
      expect(routes.urlFor("about")).to.equal("/about");
    });

    it("are not found if no route has them", () => {
      const error = errorOf(() => routes.urlFor("links.shwo", [7]));

      expect(error).to.be.instanceOf(NotFoundError);
      expect(error).to.include({ code: "E_ROUTE_NAME", status: 404, detail: 'no route is named "links.shwo"' });
    });

    it("refuse parameters that do not fit the template", () => {
      expect(errorOf(() => routes.urlFor("links.show", ["red"]))).to.include({ code: "E_ROUTE_PARAM", status: 500 });
      expect(errorOf(() => routes.urlFor("about", [1]))).to.include({ code: "E_ROUTE_PARAM" });
    });
  });

  it("has a diagnostic for a route with the path of a health endpoint", () => {
    const routes = Routes.of(
      Route.get("/up", home),
      Route.any("/up/{x}", home),
      Route.get("/u%70/live", remove),
      Route.get("/up/", home),
    );

    const diagnostics = findHealthCollisions(routes.flatten(), ["/up", "/up/live", "/up/ready"]);

    expect(diagnostics.map(({ code, where }) => [code, where])).to.deep.equal([
      ["E_ROUTE_HEALTH", "home"],
      ["E_ROUTE_HEALTH", "remove"],
    ]);
    expect(diagnostics[0]?.what).to.equal("the route GET /up has the health path /up, which responds before it");
  });

  describe("diagnostics", () => {
    it("of valid routes are none", () => {
      const routes = Routes.of(
        Route.get("/x", home),
        Route.any("/x", remove),
        Route.get("/{x}", home),
        Route.get("/{*x}", home),
        Route.get("/_frameworks", home),
        Route.get("/y", home).name("y"),
      );

      expect(routes.diagnostics()).to.deep.equal([]);
    });

    it("of routes do not depend on the source text of a handler", () => {
      // A handler of several paths may read a parameter that only some of them have; the cast tells the compiler.
      const ofBoth = (({ params }: Context<"slug">) => params.slug) as () => string;

      expect(Routes.of(Route.get("/l/{id}", ofBoth)).diagnostics()).to.deep.equal([]);
    });

    const rows: readonly (readonly [title: string, routes: Routes, code: string, what: string, where: string])[] = [
      [
        "an invalid template",
        Routes.of(new RouteGroup("/a", [Route.get("/{x}/{x}", home)])),
        "E_ROUTE_PATH",
        'the path "/a/{x}/{x}" cannot be used: it captures "x" twice',
        "GET /a/{x}/{x}, home",
      ],
      [
        "two routes for the same requests, with parameters of other names",
        Routes.of(Route.get("/l/{id}", home)).merge(Routes.of(Route.get("/l/{slug}", remove))),
        "E_ROUTE_DUPLICATE",
        "GET /l/{slug} handles the same requests as GET /l/{id}",
        "home and remove",
      ],
      [
        "two spellings of one literal",
        Routes.of(Route.get("/caf\u00e9", home), Route.get("/caf%c3%a9", remove)),
        "E_ROUTE_DUPLICATE",
        "GET /caf%c3%a9 handles the same requests as GET /caf\u00e9",
        "home and remove",
      ],
      [
        "two routes for any method",
        Routes.of(Route.any("/x", home), Route.any("/x", remove)),
        "E_ROUTE_DUPLICATE",
        "ANY /x handles the same requests as ANY /x",
        "home and remove",
      ],
      [
        "a repeated name",
        Routes.of(Route.get("/x", home).name("n"), new RouteGroup("/g", [Route.get("/y", remove).name("n")])),
        "E_ROUTE_NAME_REPEATED",
        'the name "n" is given to GET /x and to GET /g/y',
        "home and remove",
      ],
      [
        "an empty name",
        Routes.of(Route.get("/x", home).name("")),
        "E_ROUTE_NAME_EMPTY",
        "the name of GET /x is empty",
        "home",
      ],
      [
        "a path of the framework",
        Routes.of(Route.get("/_framework/x", home)),
        "E_ROUTE_RESERVED",
        "the route GET /_framework/x lies below /_framework, which is reserved for the framework",
        "home",
      ],
    ];
    for (const [title, routes, code, what, where] of rows) {
      it(`of routes report ${title}`, () => {
        const diagnostics = routes.diagnostics();

        expect(diagnostics).to.have.length(1);
        expect(diagnostics[0]).to.include({ code, what, where });
        expect(diagnostics[0]?.fix).not.to.equal("");
      });
    }

    it("leave only routes with an invalid path out of the served routes", () => {
      const routes = Routes.of(Route.get("/x/", home), Route.get("/y", home), Route.get("/y", remove));

      expect(routes.diagnostics().map(({ code }) => code)).to.deep.equal(["E_ROUTE_PATH", "E_ROUTE_DUPLICATE"]);
      expect(routes.listRows().map(({ route }) => route.descriptor.path)).to.deep.equal(["/y", "/y"]);
    });
  });

  it("cannot be merged into the same collection", () => {
    const inner = new Routes();
    const outer = new Routes().merge(inner);

    expect(errorOf(() => outer.merge(outer))).to.include({ code: "E_ROUTES_CYCLE" });
    expect(errorOf(() => inner.merge(outer))).to.include({ code: "E_ROUTES_CYCLE" });
  });

  it("cannot be changed after they are sealed", () => {
    const routes = Routes.of(Route.get("/x", home)).seal();

    expect(errorOf(() => routes.merge(new Routes()))).to.include({ code: "E_ROUTES_SEALED" });
    expect(errorOf(() => routes.middleware())).to.include({ code: "E_ROUTES_SEALED" });
    expect(routes.listRows()).to.equal(routes.listRows());
  });
});

function marker(name: string): Middleware & { readonly name: string } {
  return { name, handle: (_ctx: Context, next: Next) => next() };
}

const koa: KoaMiddleware = async (_, next: Next) => next();

function home(): string {
  return "home";
}

function remove(): undefined {
  return undefined;
}

function around(routes: Routes): Record<string, readonly unknown[]> {
  return Object.fromEntries(routes.listRows().map(({ route }) => [route.descriptor.path, route.around]));
}
