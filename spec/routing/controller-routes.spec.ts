import { expect } from "chai";
import * as fc from "fast-check";
import type { Context } from "../../lib/http/request/context.js";
import type { Next } from "../../lib/http/middleware.js";
import type { AnyClass } from "../../lib/endpoints/handler.js";
import { Controller } from "../../lib/routing/controller.js";
import { ControllerPlan } from "../../lib/routing/controller-routes.js";
import { createEndpoint, Get, Post } from "../../lib/endpoints/endpoint.js";
import type { Method } from "../../lib/endpoints/method.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { createInstanceCache, type GetInstance, Middleware, middleware } from "../../lib/routing/middleware.js";
import { resource } from "../../lib/endpoints/resource.js";
import { Route } from "../../lib/routing/route.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { Routes } from "../../lib/routing/routes.js";
import { findSharedEndpoints } from "../../lib/routing/controller-diagnostics.js";
import { errorOf } from "../support/error-of.js";
import { template } from "../endpoints/templates.js";

const links = routes("links", "/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
const photos = resource("photos", "/photos", { only: ["index", "show", "destroy"] });

const A = middleware((_ctx, next) => next(), "a");
const B = middleware((_ctx, next) => next(), "b");
const C = middleware((_ctx, next) => next(), "c");
const koa = async (_ctx: unknown, next: Next): Promise<void> => next();

describe("ControllerPlan", () => {
  it("returns the routes of a table, as the builder would", () => {
    @Controller(links)
    class LinksController {
      @links.create create() {}
      @links.show show({ params }: Context<"id">) {
        return params.id;
      }
      @links.index index() {}
    }

    const plan = ControllerPlan.of(LinksController);

    expect(plan.diagnostics).to.deep.equal([]);
    expect(described(plan)).to.deep.equal([
      "GET /links LinksController.index links.index",
      "GET /links/{id} LinksController.show links.show",
      "POST /links LinksController.create links.create",
    ]);
  });

  it("puts endpoints and their URLs below the prefix of the controller", () => {
    const panel = Get("/panel/{id}", "admin.panel");
    @Controller("/admin/")
    class Admin {
      @Get("") root() {}
      @panel panel() {}
      @Post("users", { page: "users" }) users() {}
    }

    const plan = ControllerPlan.of(Admin);

    expect(plan.diagnostics).to.deep.equal([]);
    expect(described(plan)).to.deep.equal([
      "GET /admin Admin.root undefined",
      "GET /admin/panel/{id} Admin.panel admin.panel",
      "POST /admin/users Admin.users undefined",
    ]);
    expect(panel.url(7)).to.equal("/admin/panel/7");
    expect(flat(plan)[2]?.descriptor.pages).to.deep.equal(["users"]);
  });

  it("keeps the paths of endpoints where there is no prefix", () => {
    @Controller()
    class Home {
      @Get("/") home() {}
      @Get("/about") @Get("/imprint") about() {}
    }

    expect(described(ControllerPlan.of(Home))).to.deep.equal([
      "GET / Home.home undefined",
      "GET /about Home.about undefined",
      "GET /imprint Home.about undefined",
    ]);
  });

  it("finds the methods of a resource by name and by decorator", () => {
    @Controller(photos)
    class Photos {
      show(ctx: Context<"id">) {
        return ctx.params.id;
      }
      @photos.destroy remove() {}
      index() {}
      create() {}
    }

    const plan = ControllerPlan.of(Photos);

    expect(plan.diagnostics).to.deep.equal([]);
    expect(described(plan)).to.deep.equal([
      "GET /photos Photos.index photos.index",
      "GET /photos/{id} Photos.show photos.show",
      "DELETE /photos/{id} Photos.remove photos.destroy",
    ]);
  });

  it("calls the method on the one instance, which the first request asks for", async () => {
    @Controller(links)
    class Counting {
      private calls = 0;
      @links.index index() {
        return ++this.calls;
      }
      @links.show show(ctx: Context<"id">) {
        return [ctx, ++this.calls];
      }
      @links.create async create() {
        return Promise.resolve(++this.calls);
      }
    }
    const instances: unknown[] = [];
    const construct = createInstanceCache();
    const getInstance: GetInstance = (each) => {
      instances.push(each);
      return construct(each);
    };

    const [index, show, create] = flat(ControllerPlan.of(Counting), getInstance);

    expect(instances).to.deep.equal([]);
    expect(index?.handler(ctx)).to.equal(1);
    expect(show?.handler(ctx)).to.deep.equal([ctx, 2]);
    expect(await create?.handler(ctx)).to.equal(3);
    expect(index?.handler(ctx)).to.equal(4);
    expect(new Set(instances)).to.deep.equal(new Set([Counting]));
  });

  describe("with inheritance", () => {
    @Middleware(A)
    class Base {
      @links.index @Middleware(B) index(): string {
        return "base";
      }
      @links.show show(): string {
        return "base";
      }
    }
    @Controller(links)
    @Middleware(C)
    class Derived extends Base {
      @Middleware(C) override index(): string {
        return "derived";
      }
      @links.create create() {}
    }

    it("keeps the endpoints of the base class and calls the overriding methods", () => {
      const plan = ControllerPlan.of(Derived);

      expect(plan.diagnostics).to.deep.equal([]);
      expect(flat(plan).map(({ handler }) => handler(ctx))).to.deep.equal(["derived", "base", undefined]);
    });

    it("keeps the middleware of the base class, outermost", () => {
      const [index, show] = flat(ControllerPlan.of(Derived));

      expect(index?.around).to.deep.equal([A, C, B, C]);
      expect(show?.around).to.deep.equal([A, C]);
    });
  });

  it("puts middleware of the class outside that of the method, the first in the list outermost", () => {
    const instance = new A();
    @Controller("/x")
    @Middleware(A, B)
    @Middleware(koa)
    class Both {
      @Middleware(C)
      @Get("/both")
      @Middleware(instance, A)
      both() {}

      @Get("/class") only() {}
    }

    const plan = ControllerPlan.of(Both);

    expect(flat(plan).map((route) => route.around)).to.deep.equal([
      [A, B, koa, C, instance, A],
      [A, B, koa],
    ]);
    expect(plan.middlewareClasses).to.deep.equal([A, B, C]);
  });

  it("keeps the middleware of a class that a decorator above it replaces by a proxy or by a subclass", () => {
    const proxy = replace((target) => new Proxy(target, {}));
    const subclass = replace((target) => class extends (target as new () => object) {});

    expect(flat(ControllerPlan.of(proxy)).map((route) => route.around)).to.deep.equal([[B, A]]);
    expect(flat(ControllerPlan.of(subclass)).map((route) => route.around)).to.deep.equal([[A, B]]);

    function replace(decorator: (target: AnyClass) => AnyClass): AnyClass {
      class Links {
        @Get("/links") index() {}
      }
      Middleware(A)(Links);
      const replaced = decorator(Links);
      Middleware(B)(replaced);
      Controller("/x")(replaced);
      return replaced;
    }
  });

  describe("diagnostics", () => {
    @Controller(links)
    class Incomplete {
      @links.index index() {}
      @links.index again() {}
      @links.show show() {}
    }
    @Controller(links)
    class Foreign {
      @links.index index() {}
      @links.show show() {}
      @links.create create() {}
      @photos.destroy destroy() {}
      @Get("/extra") extra() {}
    }
    @Controller("/admin")
    class Misplaced {
      @links.index index() {}
    }
    class Undecorated {
      @Get("/x") x() {}
    }
    @Controller({ index: Get("/") })
    class NoTable {
      @Get("/x") x() {}
    }
    // A caller without types passes this value.
    const unknown = resource("u", "/u", { only: ["index", "list" as "show"] });
    @Controller(unknown)
    class UnknownAction {
      index() {}
    }
    @Controller(photos)
    class Resource {
      index() {}
      @photos.show index2() {}
      show() {}
    }

    const nameless = resource("", "/nameless", { only: ["index"] });
    @Controller(nameless)
    class Nameless {
      index() {}
    }

    const rows: readonly (readonly [controller: AnyClass, codes: readonly string[], what: string, where: string])[] = [
      [
        Incomplete,
        ["E_ENDPOINT_REPEATED", "E_ENDPOINT_UNHANDLED"],
        '"index" of the table "links" is handled 2 times',
        "Incomplete.index and Incomplete.again",
      ],
      [
        Foreign,
        ["E_ENDPOINT_FOREIGN", "E_ENDPOINT_FOREIGN"],
        'DELETE /photos/{id} is an entry of another table, "photos"',
        "Foreign.destroy",
      ],
      [Misplaced, ["E_ENDPOINT_FOREIGN"], 'GET /links is an entry of another table, "links"', "Misplaced.index"],
      [
        Undecorated,
        ["E_CONTROLLER_MISSING"],
        "Undecorated is listed as a controller and has no @Controller",
        "Undecorated",
      ],
      [
        (() => class {})(),
        ["E_CONTROLLER_MISSING"],
        "an anonymous class is listed as a controller and has no @Controller",
        "an anonymous class",
      ],
      [NoTable, ["E_CONTROLLER_SOURCE"], "@Controller({ index }) is given neither a prefix nor a table", "NoTable"],
      [
        Nameless,
        ["E_RESOURCE_NAME"],
        'a resource has an empty name, so that its routes would be named ".index", ".show" and so on',
        'resource("", "/nameless")',
      ],
      [UnknownAction, ["E_RESOURCE_ACTION"], '"list" is not an action of a resource', 'resource("u")'],
      [
        Resource,
        ["E_ENDPOINT_REPEATED", "E_ENDPOINT_UNHANDLED"],
        '"show" of the table "photos" is handled 2 times',
        "Resource.index2 and Resource.show",
      ],
    ];
    for (const [controller, codes, what, where] of rows) {
      it(`report ${codes.join(", ") || "nothing"} for ${controller.name}`, () => {
        const { diagnostics } = ControllerPlan.of(controller);

        expect(diagnostics.map(({ code }) => code)).to.deep.equal(codes);
        expect(diagnostics[0]).to.include({ what, where });
        expect(diagnostics.every(({ fix }) => fix !== "")).to.equal(true);
      });
    }

    it("name the entry of a table without a method, and the fix", () => {
      const diagnostic = ControllerPlan.of(Incomplete).diagnostics[1];

      expect(diagnostic).to.deep.equal({
        code: "E_ENDPOINT_UNHANDLED",
        what: 'no method of Incomplete handles POST /links, "create" of the table "links"',
        where: "Incomplete",
        fix: "decorate a method with .create of the table, or remove the entry; one controller handles all entries of a table",
      });
    });

    it("report a value in @Middleware that is not middleware", () => {
      // An import in a cycle of files has this value.
      const missing = undefined as unknown as typeof A;
      @Controller("/x")
      class Cyclic {
        @Get("/y") @Middleware(missing) y() {}
      }

      const diagnostics = new Routes([ControllerPlan.of(Cyclic).group(createInstanceCache())]).diagnostics();

      expect(diagnostics.map(({ code, what }) => [code, what])).to.deep.equal([
        ["E_MIDDLEWARE_INVALID", "undefined is given as middleware of GET /x/y, and is not middleware"],
      ]);
    });
  });

  it("distinguishes classes with endpoints from other classes", () => {
    class Plain {}
    class Decorated {
      @Get("/x") x() {}
    }
    @Controller()
    class Empty {}

    expect([Plain, Decorated, Empty].map((each) => ControllerPlan.isDecorated(each))).to.deep.equal([
      false,
      true,
      true,
    ]);
  });

  describe("an endpoint that controllers with different prefixes have", () => {
    it("has no URL, since the URL could be either of two", () => {
      const show = Get("/{id}");
      class Base {
        @show show() {}
      }
      @Controller("/a")
      class OfA extends Base {}
      const url = show.url(1);
      @Controller("/b")
      class OfB extends Base {}

      expect(url).to.equal("/a/1");
      expect(errorOf(() => show.url(1))).to.include({ code: "E_ENDPOINT_SHARED" });
      expect([OfA, OfB].flatMap((each) => described(ControllerPlan.of(each)))).to.deep.equal([
        "GET /a/{id} OfA.show undefined",
        "GET /b/{id} OfB.show undefined",
      ]);
      expect(findSharedEndpoints([OfA, OfB])).to.deep.equal([]);
    });

    it("has no URL where a controller has its table, and a group of another application has it below a prefix", () => {
      const table = routes("shared", "/shared", { show: Get("/{id}") });
      @Controller(table)
      class Shared {
        @table.show show() {}
      }
      expect([table.show.url(1), ...described(ControllerPlan.of(Shared))]).to.deep.equal([
        "/shared/1",
        "GET /shared/{id} Shared.show shared.show",
      ]);

      const other = new Routes([new RouteGroup("/api", [Route.of(table.show, () => "")])]);

      expect(other.descriptors().map(({ path }) => path)).to.deep.equal(["/api/shared/{id}"]);
      expect(errorOf(() => table.show.url(1))).to.include({ code: "E_ENDPOINT_SHARED" });
    });

    it("is a diagnostic where each controller decorates a method of its own with the endpoint", () => {
      const show = Get("/{id}");
      @Controller("/a")
      class Left {
        @show show() {}
      }
      @Controller("/b/")
      class Right {
        @show look() {}
      }
      @Controller("/a/")
      class Again {
        @show show() {}
      }

      expect(findSharedEndpoints([Left, Again])).to.deep.equal([]);
      expect(findSharedEndpoints([Left, Right])).to.deep.equal([
        {
          code: "E_ENDPOINT_SHARED",
          what: "GET /{id} is handled at /a/{id} and at /b/{id}, so its URL could be either",
          where: "Left.show and Right.look",
          fix: "give each controller a separate endpoint",
        },
      ]);
    });
  });

  it("describes the same routes as the builder does", () => {
    const prefix = fc.constantFrom("", "/", "/p", "/p/", "/t/{team}");
    const entry = fc.record({
      method: fc.constantFrom<Method>("GET", "POST", "HEAD", "ANY"),
      path: template().map((path) => path.replace("{team}", "{t}")),
      name: fc.option(fc.string({ minLength: 1, maxLength: 3 }), { nil: undefined }),
      page: fc.option(fc.constant("page"), { nil: undefined }),
      guarded: fc.boolean(),
    });
    fc.assert(
      fc.property(prefix, fc.array(entry, { maxLength: 6 }), fc.boolean(), (start, entries, whole) => {
        const decorated = decoratedRoutes(start, entries, whole);

        const built = builtRoutes(start, entries, whole);

        expect(decorated.descriptors()).to.deep.equal(built.descriptors());
        expect(decorated.flatten().map((each) => each.around)).to.deep.equal(
          built.flatten().map((each) => each.around),
        );
        expect(decorated.diagnostics()).to.deep.equal(built.diagnostics());
      }),
    );
  });
});

interface Entry {
  readonly method: Method;
  readonly path: string;
  readonly name: string | undefined;
  readonly page: string | undefined;
  readonly guarded: boolean;
}

function decoratedRoutes(prefix: string, entries: readonly Entry[], whole: boolean): Routes {
  class Made {}
  for (const [at, { method, path, name, page, guarded }] of entries.entries()) {
    const key = `h${at}`;
    const descriptor = { value: () => at };
    Object.defineProperty(Made.prototype, key, descriptor);
    const options = { ...(name !== undefined && { name }), ...(page !== undefined && { page }) };
    createEndpoint(method, path, options)(Made.prototype, key, descriptor);
    if (guarded) Middleware(A, koa)(Made.prototype, key, descriptor);
  }
  if (whole) Middleware(B)(Made);
  Controller(prefix)(Made);
  return new Routes([ControllerPlan.of(Made).group(createInstanceCache())]).middleware(C);
}

function builtRoutes(prefix: string, entries: readonly Entry[], whole: boolean): Routes {
  const members = entries.map(({ method, path, name, page, guarded }, at) => {
    const pages = page === undefined ? [] : [page];
    const route = Route.forMethod({ method, path, name, pages }, () => at, `Made.h${at}`);
    return guarded ? route.middleware(A).layer(koa) : route;
  });
  const group = new RouteGroup(prefix, members);
  return new Routes([whole ? group.middleware(B) : group]).middleware(C);
}

// These handlers do not read the context.
const ctx = {} as Context;

function flat(plan: ControllerPlan, getInstance = createInstanceCache()): ReturnType<Routes["flatten"]> {
  return new Routes([plan.group(getInstance)]).flatten();
}

function described(plan: ControllerPlan): readonly string[] {
  return flat(plan).map(({ descriptor: { method, path, handler, name } }) => `${method} ${path} ${handler} ${name}`);
}
