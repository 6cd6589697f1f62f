/** Tables below a further prefix: their URLs and names, one controller for several tables, and two versions side by side. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  type Context,
  type ContextOf,
  Controller,
  Get,
  guard,
  Guards,
  Middleware,
  middleware,
  Module,
  Post,
  prefix,
  Query,
  resource,
  RouteGroup,
  Routes,
  routes,
} from "@stagecraft/framework";
import { client, prefix as prefixOfClient, routes as routesOfClient } from "@stagecraft/framework/routes";
import * as browserEdition from "../../lib/entries/routes-in-a-browser.js";
import { testApp } from "@stagecraft/framework/testing";
import { startupErrorOf } from "../support/startup-error-of.js";

const Link = z.object({ id: z.int() });
const NewLink = z.object({ id: z.int(), url: z.string() });
const keyed = guard<{ account: string }>("keyed");

const links = routes("links", "/links", {
  index: Get("/", "all.links"),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }),
});

describe("prefix", () => {
  it("gives a new table with joined paths and names, and leaves the former one", () => {
    const v1 = prefix("/v1", links);

    expect([v1.show.path, v1.show.name, v1.show.url(7)]).to.deep.equal([
      "/v1/links/{id}",
      "v1.links.show",
      "/v1/links/7",
    ]);
    expect(v1.index.name).to.equal("v1.all.links");
    expect(v1.show.contract).to.equal(links.show.contract);
    expect([links.show.path, links.show.name]).to.deep.equal(["/links/{id}", "links.show"]);
  });

  it("leaves captures out of names, and takes a name", () => {
    const nested = prefix("/api", prefix("/v1", links));

    expect(nested.show.name).to.equal("api.v1.links.show");
    expect(prefix("/tenants/{tenant}/v1", links).show.name).to.equal("tenants.v1.links.show");
    expect(prefix("/v1", links, { name: "first" }).show.name).to.equal("first.links.show");
    expect(prefix("/v1", links, { name: "" }).show.name).to.equal("links.show");
    expect(prefix("/{tenant}", links).show.name).to.equal("links.show");
  });

  it("asks for the captures of the prefix, first", () => {
    const tenants = prefix("/tenants/{tenant}", links);

    expect(tenants.show.url("red", 7)).to.equal("/tenants/red/links/7");
    // @ts-expect-error -- The URL needs both.
    expect(() => tenants.show.url("red")).to.throw(/"id".*is missing/);
  });

  it("refuses a value that is no table, an unknown option and a name that is no text", () => {
    const cases = [
      () => prefix("/v1", { ...links }),
      () => prefix("/v1", Get("/") as never),
      () => prefix("/v1", links, { named: "a" } as object),
      () => prefix("/v1", links, { name: 7 } as object),
      () => prefix(7 as unknown as string, links),
    ];

    expect(cases.map(codeOf)).to.deep.equal([
      "E_ROUTES_INVALID",
      "E_ROUTES_INVALID",
      "E_OPTION",
      "E_OPTION",
      "E_ROUTE_PATH",
    ]);
  });

  it("is the same in a browser", () => {
    const table = { show: Get("/{id}"), find: Query("/find").orPost() };
    const onServer = prefixOfClient("/api/{tenant}", prefixOfClient("/v1", routesOfClient("links", "/links", table)));
    const browserTable = { show: browserEdition.Get("/{id}"), find: browserEdition.Query("/find").orPost() };
    const inBrowser = browserEdition.prefix(
      "/api/{tenant}",
      browserEdition.prefix("/v1", browserEdition.routes("links", "/links", browserTable)),
    );

    for (const key of ["show", "find"] as const)
      expect([inBrowser[key].method, inBrowser[key].name, inBrowser[key].path]).to.deep.equal([
        onServer[key].method,
        onServer[key].name,
        onServer[key].path,
      ]);
    expect(inBrowser.show.url("red", 7)).to.equal("/api/red/v1/links/7");
    expect(browserEdition.prefix("/v1", inBrowser, { name: "" }).show.name).to.equal("api.v1.links.show");
  });
});

function codeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return Reflect.get(Object(error), "code");
  }
}

const first = prefix("/v1", links);
const tenants = prefix("/tenants/{tenant}", links);

const log: string[] = [];
const Noted = middleware(async function noted(ctx: Context, next) {
  log.push(ctx.path);
  await next();
});

@Controller(links, first, tenants)
class SharedController {
  private calls = 0;

  @links.index @Middleware(Noted) index(ctx: Context) {
    this.calls += 1;
    return `${ctx.path} ${this.calls}`;
  }
  @links.show show({ params }: ContextOf<typeof links.show>) {
    return { id: params.id };
  }
  @tenants.show showOfTenant({ params }: ContextOf<typeof tenants.show>) {
    return { id: params.id + Number(params.tenant) };
  }
}

@Module({ controllers: [SharedController] })
class SharedModule {}

describe("a controller of several tables", () => {
  it("handles each with one instance, its contract and its middleware", async () => {
    await using app = await testApp(Application.create(SharedModule).errorMapping());

    const texts = [];
    for (const path of [links.index.url(), first.index.url(), tenants.index.url("a")])
      texts.push(await (await app.get(path)).text());
    const shown = await Promise.all(
      [links.show.url(7), first.show.url(7), first.show.url("x")].map(async (path) => (await app.get(path)).status),
    );

    expect(texts).to.deep.equal(["/links 1", "/v1/links 2", "/tenants/a/links 3"]);
    expect(log.splice(0)).to.deep.equal(["/links", "/v1/links", "/tenants/a/links"]);
    expect(shown).to.deep.equal([200, 200, 422]);
  });

  it("handles an entry of one table with a method of its own", async () => {
    await using app = await testApp(Application.create(SharedModule));

    const response = await app.get(tenants.show.url(1000, 7));

    expect(await response.json()).to.deep.equal({ id: 1007 });
  });

  it("has a client and a name for each", async () => {
    await using app = await testApp(Application.create(SharedModule));

    const calls = [
      await client(links, { origin: app.url }).show({ params: { id: 1 } }),
      await client(first, { origin: app.url }).show({ params: { id: 2 } }),
      await client(tenants, { origin: app.url }).show({ params: { tenant: 3, id: 4 } }),
    ];

    expect(calls).to.deep.equal([{ id: 1 }, { id: 2 }, { id: 7 }]);
    expect(
      app.application
        .routes()
        .named()
        .map(([name]) => name),
    ).to.deep.equal([
      "all.links",
      "links.show",
      "tenants.all.links",
      "tenants.links.show",
      "v1.all.links",
      "v1.links.show",
    ]);
  });

  it("runs the guards of the table", async () => {
    const guarded = routes("guarded", "/guarded", { show: Get("/") }, { guards: [keyed] });
    const below = prefix("/v1", guarded);

    @Controller(below)
    class GuardedController {
      @below.show show({ account }: ContextOf<typeof below.show>) {
        return account;
      }
    }
    class Keys {
      @Guards(keyed) check() {
        return { account: "ada" };
      }
    }
    @Module({ controllers: [GuardedController], providers: [Keys] })
    class GuardedModule {}
    await using app = await testApp(Application.create(GuardedModule));

    expect(await (await app.get("/v1/guarded")).text()).to.equal("ada");
  });

  it("handles the actions of resources by name", async () => {
    const photos = resource("photos", "/photos", { only: ["index", "show"] });
    const admin = prefix("/admin/{account}", photos);

    @Controller(photos, admin)
    class PhotosController {
      index(ctx: Context) {
        return ctx.path;
      }
      show({ params }: Context<"id">) {
        return params.id;
      }
    }
    @Module({ controllers: [PhotosController] })
    class PhotosModule {}
    await using app = await testApp(Application.create(PhotosModule));

    expect(await (await app.get(admin.index.url("ada"))).text()).to.equal("/admin/ada/photos");
    expect(await (await app.get(photos.show.url(7))).text()).to.equal("7");
  });

  it("is refused where a table lacks a method, or a method handles nothing", () => {
    const other = routes("other", "/other", { only: Get("/") });

    @Controller(first, other)
    class IncompleteController {
      @links.index index() {}
      @links.show show() {
        return { id: 1 };
      }
      @first.show showFirst() {
        return { id: 2 };
      }
    }
    @Module({ controllers: [IncompleteController] })
    class IncompleteModule {}

    const { diagnostics } = startupErrorOf(() => Application.create(IncompleteModule).build());

    expect(diagnostics.map(({ code, where }) => [code, where])).to.deep.equal([
      ["E_ENDPOINT_UNHANDLED", "IncompleteController"],
      ["E_ENDPOINT_UNROUTED", "IncompleteController.show"],
    ]);
  });

  it("is refused for a value among the tables that is none", () => {
    for (const others of [["/v1"], [{ a: 1 }], [undefined]]) {
      @Controller(links, ...(others as object[]))
      class OddController {
        @links.index index() {}
        @links.show show() {
          return { id: 1 };
        }
      }
      @Module({ controllers: [OddController] })
      class OddModule {}

      const { diagnostics } = startupErrorOf(() => Application.create(OddModule).build());

      expect(diagnostics.map(({ code }) => code)).to.include("E_CONTROLLER_SOURCE");
    }
  });

  it("is refused where two of its tables have one name", () => {
    @Controller(links, prefix("/v1", links, { name: "" }))
    class NamedController {
      @links.index index() {}
      @links.show show() {
        return { id: 1 };
      }
    }
    @Module({ controllers: [NamedController] })
    class NamedModule {}

    const { diagnostics } = startupErrorOf(() => Application.create(NamedModule).build());

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_ROUTE_NAME_REPEATED", "E_ROUTE_NAME_REPEATED"]);
  });
});

describe("two versions of a table", () => {
  const entries = { index: Get("/"), show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }) };
  const old = prefix("/v1", routes("items", "/items", entries));
  const current = prefix(
    "/v2",
    routes("items", "/items", {
      ...entries,
      show: Get("/{id}", { params: { id: z.int() }, responses: { 200: NewLink } }),
      store: Post("/", { body: NewLink, responses: { 201: NewLink } }),
    }),
  );

  @Controller(old, current)
  class ItemsController {
    @old.index @current.index index() {
      return "both";
    }
    @old.show showOld({ params }: ContextOf<typeof old.show>) {
      return { id: params.id };
    }
    @current.show show({ params }: ContextOf<typeof current.show>) {
      return { id: params.id, url: current.show.url(params.id) };
    }
    @current.store store() {
      return undefined as never;
    }
  }
  @Module({ controllers: [ItemsController] })
  class ItemsModule {}

  it("stand side by side with their contracts and URLs", async () => {
    await using app = await testApp(Application.create(ItemsModule));

    const of = async (path: string): Promise<unknown> => (await app.get(path)).json();

    expect(await of(old.show.url(7))).to.deep.equal({ id: 7 });
    expect(await of(current.show.url(7))).to.deep.equal({ id: 7, url: "/v2/items/7" });
    expect(await (await app.get(current.index.url())).text()).to.equal("both");
    expect((await app.post("/v1/items", { json: {} })).status).to.equal(405);
  });

  it("have routes without decorators too", async () => {
    const all = new Routes([
      RouteGroup.of(old, { index: () => "old", show: ({ params }) => ({ id: params.id }) }),
      RouteGroup.of(current, {
        index: () => "new",
        show: ({ params }) => ({ id: params.id, url: "" }),
        store: () => undefined as never,
      }),
    ]);
    await using app = await testApp(Application.create().routes(all));

    expect(await (await app.get("/v1/items")).text()).to.equal("old");
    expect(await (await app.get("/v2/items/7")).json()).to.deep.equal({ id: 7, url: "" });
  });
});
