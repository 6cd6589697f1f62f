/** Endpoints, tables and resources in `Routes`: handlers without decorators, and typed URLs. */
import { expect } from "chai";
import {
  Application,
  Get,
  middleware,
  Post,
  redirect,
  resource,
  Route,
  RouteGroup,
  Routes,
  routes as table,
  StartupError,
  type Context,
  type Endpoint,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const Passed = middleware((ctx, next) => {
  ctx.set("x-passed", "yes");
  return next();
}, "Passed");

function serving(...members: readonly (Route | RouteGroup)[]): ReturnType<typeof Application.create> {
  return Application.create().routes(new Routes(members));
}

function photo({ params }: Context<"id">): string {
  return `photo ${params.id}`;
}

function anonymous(): () => string {
  return () => "";
}

function listed(member: unknown): string {
  return errorOf(() => new Routes([member as Route])).message;
}

function home(): string {
  return "";
}

describe("a route of an endpoint", () => {
  it("handles requests to the URL of the endpoint, and has its name", async () => {
    const show = Get("/links/{id}", "links.show");
    const go = Post("/go");
    await using app = await testApp(
      serving(
        Route.of(show, ({ params }) => `link ${params.id}`),
        Route.of(go, () => redirect().route(show, "a b")),
      ),
    );

    expect(await (await app.get(show.url("a b"))).text()).to.equal("link a b");
    expect((await app.post(go.url())).headers.get("location")).to.equal("/links/a%20b");
    expect(app.application.routes().named()).to.deep.equal([["links.show", "/links/{id}"]]);
  });

  it("has a URL with the prefixes of the groups around it", async () => {
    const users = Get("/users");
    const inner = new RouteGroup("/staff", [Route.of(users, () => "users").middleware(Passed)]);
    await using app = await testApp(serving(new RouteGroup("/admin", [inner])));

    const response = await app.get(users.url());

    expect([users.url(), response.headers.get("x-passed"), await response.text()]).to.deep.equal([
      "/admin/staff/users",
      "yes",
      "users",
    ]);
  });

  it("is refused below a prefix with a capture, and below two prefixes", () => {
    const below = Get("/links");
    const twice = Get("/twice");

    const error = startupErrorOf(() =>
      serving(
        new RouteGroup("/teams/{team}", [Route.of(below, home)]),
        new RouteGroup("/a", [Route.of(twice, home)]),
        new RouteGroup("/b", [Route.of(twice, home)]),
      ).build(),
    );

    expect(error.diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_ENDPOINT_PREFIX the group of GET /links has a capture in its prefix, /teams/{team}/links, which the endpoint's URL would not ask for",
      "E_ENDPOINT_SHARED GET /twice is handled at /a/twice and at /b/twice, so its URL could be either",
    ]);
  });

  const refused: readonly (readonly [title: string, make: () => unknown, message: RegExp])[] = [
    ["a path", () => Route.of("/links" as unknown as Endpoint, home), /^\/links is not an endpoint/],
    [
      "no handler",
      () => Route.of(Get("/x"), undefined as unknown as () => string),
      /^the route GET \/x has no handler: give a function$/,
    ],
  ];
  for (const [title, make, message] of refused) {
    it(`is refused at once with ${title}`, () => {
      expect(errorOf(make).message).to.match(message);
    });
  }
});

describe("the routes of a table", () => {
  const links = table("links", "/teams/{team}/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });

  it("handle requests to the URLs of the table, each by the handler of its entry", async () => {
    const group = RouteGroup.of(links, {
      index: ({ params }) => `links of ${params.team}`,
      show: ({ params }) => `${params.team} ${params.id}`,
      create: Route.of(links.create, anonymous()).middleware(Passed),
    });
    await using app = await testApp(serving(group));

    const created = await app.post(links.create.url("red"));

    expect(await (await app.get(links.index.url("red"))).text()).to.equal("links of red");
    expect(await (await app.get(links.show.url("red", 7))).text()).to.equal("red 7");
    expect([created.status, created.headers.get("x-passed")]).to.deep.equal([200, "yes"]);
    expect(app.application.routes().descriptors()).to.deep.include({
      method: "GET",
      path: "/teams/{team}/links/{id}",
      handler: "show",
      name: "links.show",
      pages: [],
    });
  });

  it("may be the routes of a resource", async () => {
    const photos = resource("photos", "/photos", { only: ["index", "show"] });
    await using app = await testApp(serving(RouteGroup.of(photos, { index: () => "all", show: photo })));

    expect(await (await app.get(photos.show.url(7))).text()).to.equal("photo 7");
    expect(await (await app.get(photos.index.url())).text()).to.equal("all");
  });

  it("warn of a resource without an action in a debug build", async () => {
    const none = resource("none", "/none", { only: [] });
    await using app = await testApp(serving(new RouteGroup("/below", [RouteGroup.of(none, {})])));

    expect(app.logs.transcript()).to.contain("a resource keeps no action");
  });

  it("are refused with an unknown action of a resource", () => {
    const wrong = resource("wrong", "/wrong", { only: ["shwo" as "show"] });

    const error = errorOf(() => RouteGroup.of(wrong, { show: home }));

    expect(error).to.be.instanceOf(StartupError);
    expect(error.message).to.contain('E_RESOURCE_ACTION "shwo" is not an action of a resource');
  });

  const handlers = { index: home, show: home, create: home };
  const refused: readonly (readonly [title: string, make: () => unknown, message: string])[] = [
    [
      "no table",
      () => RouteGroup.of({ ...links }, handlers),
      "is not a table: give the value of routes() or resource()",
    ],
    [
      "an entry without a handler",
      () => RouteGroup.of(links, { ...handlers, create: undefined as unknown as () => string }),
      "the route POST /teams/{team}/links has no handler: give a function",
    ],
    [
      "a handler without an entry",
      () => RouteGroup.of(links, { ...handlers, shwo: home } as typeof handlers),
      '"shwo" is not an entry of the table "links"',
    ],
    [
      "the route of another entry",
      () => RouteGroup.of(links, { ...handlers, create: Route.of(links.index, home) }),
      '"create" of the table "links" is given the route of another endpoint',
    ],
  ];
  for (const [title, make, message] of refused) {
    it(`are refused at once with ${title}`, () => {
      expect(errorOf(make).message).to.contain(message);
    });
  }
});

describe("a list of routes", () => {
  it("says in its error how an endpoint and a table get their handlers", () => {
    expect(listed(Get("/x"))).to.contain("member 1, an endpoint without a handler: write Route.of(endpoint, handler)");
    expect(listed(table("t", "/t", { index: Get("/") }))).to.contain(
      "member 1, a table without handlers: write RouteGroup.of(table, { index: handler, … })",
    );
  });
});
