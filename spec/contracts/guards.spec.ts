/** Guards run first, wherever and however a route is declared: through an application and a real socket. */
import { once } from "node:events";
import Koa from "koa";
import { expect } from "chai";
import { z } from "zod";
import {
  Any,
  Application,
  type ApplicationBuilder,
  type Context,
  type ContextOf,
  Controller,
  ForbiddenError,
  Get,
  guard,
  Guards,
  Middleware,
  Module,
  type Next,
  Post,
  resource,
  Route,
  RouteGroup,
  routes,
  Routes,
  UnauthorizedError,
} from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";

const signedIn = guard<{ user: string }>("signed-in");
const role = guard<{ roles: readonly string[] }, [role: string]>("role");
const tenant = guard<{ tenant: string }>("tenant");

/** What has run for the last request, in order. */
const passed: string[] = [];

class Step {
  readonly name: string = "class";
  handle(_ctx: Context, next: Next): unknown {
    passed.push(this.name);
    return next();
  }
}
class OfMethod extends Step {
  override readonly name = "method";
}
class OfModule extends Step {
  override readonly name = "module";
}

class Accounts {
  @Guards(signedIn) check(ctx: Context) {
    passed.push("signed-in");
    if (ctx.get("authorization") === "") throw new UnauthorizedError("sign in first", { challenge: "Bearer" });
    return { user: ctx.get("authorization") };
  }
  @Guards(role) async checkRole(ctx: Context, wanted: string) {
    passed.push(`role ${wanted}`);
    if (ctx.get("authorization") !== wanted) throw new ForbiddenError(`this needs the role ${wanted}`);
    return Promise.resolve({ roles: [wanted] });
  }
  @Guards(tenant) findTenant(ctx: Context) {
    passed.push("tenant");
    return { tenant: ctx.host };
  }
}

const New = z.object({ url: z.url() });

const above = routes("above", "/above", { add: Post("/", { guards: [signedIn], body: New }) });
const below = routes("below", "/below", { add: Post("/", { guards: [signedIn], body: New }) });
const between = routes("between", "/between", { add: Post("/", { guards: [signedIn], body: New }) });
const named = resource("named", "/named", { only: ["store"], guards: [signedIn] });
const decorated = resource("decorated", "/decorated", { only: ["store"], guards: [signedIn] });
const ordered = routes(
  "ordered",
  "/ordered",
  { show: Get("/", { guards: [role("ada"), signedIn] }), open: Get("/open") },
  { guards: [tenant] },
);
const byTable = routes("by-table", "/by-table", { add: Post("/", { guards: [signedIn], body: New }) });
const single = Post("/single", { guards: [signedIn], body: New });
const nested = Post("/nested", { guards: [signedIn], body: New });
const given = Post("/given", { guards: [signedIn], body: New });

function created(): string {
  passed.push("handler");
  return "created";
}

@Controller(above)
@Middleware(Step)
class Above {
  @above.add @Middleware(OfMethod) add({ user }: ContextOf<typeof above.add>) {
    return created() + user.slice(0, 0);
  }
}

@Middleware(Step)
@Controller(below)
class Below {
  @Middleware(OfMethod) @below.add add() {
    return created();
  }
}

@Controller(between)
@Middleware(Step)
class Between {
  @Middleware(OfMethod)
  @between.add
  @Middleware()
  add() {
    return created();
  }
}

@Controller(named)
@Middleware(Step)
class Named {
  @Middleware(OfMethod) store() {
    return created();
  }
}

@Controller(decorated)
@Middleware(Step)
class Decorated {
  @Middleware(OfMethod) @decorated.store add() {
    return created();
  }
}

@Controller("/prefix")
@Middleware(Step)
class Single {
  @Post("/written", { guards: [signedIn], body: New }) @Middleware(OfMethod) written({
    user,
  }: Context & { user: string }) {
    return created() + user.slice(0, 0);
  }
  @Middleware(OfMethod) @single stored() {
    return created();
  }
}

abstract class Base {
  @Post("/base", { guards: [signedIn], body: New }) @Middleware(OfMethod) inherited() {
    return "not reached";
  }
}

@Controller("/derived")
@Middleware(Step)
class Derived extends Base {
  override inherited() {
    return created();
  }
}

@Controller(ordered)
class Ordered {
  @ordered.show show({ tenant: host, roles, user }: ContextOf<typeof ordered.show>) {
    return { host, roles, user };
  }
  @ordered.open open({ tenant: host }: ContextOf<typeof ordered.open>) {
    return host;
  }
}

@Controller("/methods")
class Methods {
  @Any("/any", { guards: [signedIn] }) any() {
    return created();
  }
  @Get("/get", { guards: [signedIn] }) get() {
    return created();
  }
}

@Module({
  controllers: [Above, Below, Between, Named, Decorated, Single, Derived, Ordered, Methods],
  providers: [Accounts],
  middleware: [OfModule],
})
class Shop {}

const group = new RouteGroup("/outer", [
  new RouteGroup("/inner", [Route.of(nested, created).middleware(new OfMethod())]).middleware(new Step()),
  RouteGroup.of(byTable, { add: Route.of(byTable.add, created).middleware(new OfMethod()) }).middleware(new Step()),
]);
const collection = new Routes([group, Route.of(given, created).middleware(new OfMethod(), new Step())]).middleware(
  new OfModule(),
);

function build(): ApplicationBuilder {
  return Application.create(Shop).routes(collection);
}

const PLACES: Readonly<Record<string, string>> = {
  "a table, its decorator above @Middleware": "/above",
  "a table, its decorator below @Middleware, and @Controller below too": "/below",
  "a table, its decorator between two @Middleware": "/between",
  "a resource, by name": "/named",
  "a resource, by decorator": "/decorated",
  "an endpoint that is written above its method": "/prefix/written",
  "an endpoint of a constant": "/prefix/single",
  "a method of a base class that the controller overrides": "/derived/base",
  "Route.of in nested groups": "/outer/inner/nested",
  "RouteGroup.of in a group": "/outer/by-table",
  "Route.of in a collection": "/given",
};

describe("a guard", () => {
  let app: TestApp;

  before(async () => {
    app = await testApp(build());
  });
  beforeEach(() => void passed.splice(0));
  after(() => app.stop());

  for (const [title, path] of Object.entries(PLACES)) {
    it(`runs before all middleware and before the body is read: ${title}`, async () => {
      const refused = await app.post(path, { body: "no json" });
      expect([refused.status, refused.headers.get("www-authenticate")]).to.deep.equal([401, "Bearer"]);
      expect(passed.splice(0)).to.deep.equal(["signed-in"]);

      const invalid = await app.post(path, { json: { url: 1 }, headers: { authorization: "ada" } });
      // A resource has no schemas.
      expect(invalid.status).to.equal(/named|decorated/.test(path) ? 200 : 422);
      expect(passed.splice(0).slice(0, 2)).to.deep.equal(["signed-in", "module"]);

      const valid = await app.post(path, { json: { url: "https://a.example" }, headers: { authorization: "ada" } });
      expect(await valid.text()).to.equal("created");
      expect(passed[0]).to.equal("signed-in");
      expect(passed.slice(1, -1)).to.have.members(["module", "class", "method"]);
      expect(passed.at(-1)).to.equal("handler");
    });
  }

  it("refuses before a body that is malformed, too large, of another type, or invalid", async () => {
    const bodies: readonly {
      readonly body?: string;
      readonly json?: unknown;
      readonly headers?: Record<string, string>;
    }[] = [
      { body: "{", headers: { "content-type": "application/json" } },
      { json: { url: "x".repeat(3_000_000) } },
      { body: "url=x", headers: { "content-type": "text/plain" } },
      { json: { url: 1 } },
    ];
    const statuses = [400, 413, 415, 422];
    for (const [at, body] of bodies.entries()) {
      expect((await app.post("/above", body)).status).to.equal(401);
      const withUser = { ...body, headers: { ...body.headers, authorization: "ada" } };
      expect((await app.post("/above", withUser)).status).to.equal(statuses[at]);
    }
  });

  it("of a table runs before those of an entry, which run in their order, and each adds its values", async () => {
    const response = await app.get("/ordered", { headers: { authorization: "ada" } });

    expect(await response.json()).to.deep.include({ roles: ["ada"], user: "ada" });
    expect(passed).to.deep.equal(["tenant", "role ada", "signed-in", "module"]);
  });

  it("ends the request where it throws: no later guard runs", async () => {
    const response = await app.get("/ordered", { headers: { authorization: "eve" } });

    expect(response.status).to.equal(403);
    expect(passed).to.deep.equal(["tenant", "role ada"]);
  });

  for (const method of ["GET", "HEAD", "DELETE", "OPTIONS"]) {
    it(`of an endpoint for any method runs for ${method}`, async () => {
      expect((await app.request("/methods/any", { method })).status).to.equal(401);
    });
  }

  it("of an endpoint for GET runs for HEAD", async () => {
    expect((await app.head("/methods/get")).status).to.equal(401);
    expect((await app.head("/methods/get", { headers: { authorization: "ada" } })).status).to.equal(200);
  });

  it("does not run for OPTIONS and for a method that the path does not have", async () => {
    const options = await app.options("/methods/get");
    const refused = await app.delete("/methods/get");

    expect([options.status, refused.status]).to.deep.equal([204, 405]);
    expect(passed).to.deep.equal([]);
  });

  it("of a table and of its entry runs once; with other arguments it runs for each", () => {
    const shared = routes(
      "once",
      "/once",
      { show: Get("/", { guards: [signedIn, role("b")] }) },
      { guards: [signedIn, role("a")] },
    );

    expect(shared.show.contract?.guards.map(({ args }) => args)).to.deep.equal([[], ["a"], ["b"]]);
  });

  it("is data: of the graph and of the descriptors of the routes, in the order in which guards run", () => {
    const { routes: all } = app.application.graph();
    const descriptor = app.application
      .routes()
      .descriptors()
      .find(({ path }) => path === "/ordered");

    expect(all.find(({ path }) => path === "/ordered")?.guards).to.deep.equal(["tenant", 'role("ada")', "signed-in"]);
    expect(all.find(({ path }) => path === "/named")?.guards).to.deep.equal(["signed-in"]);
    expect(descriptor?.contract?.guards.map(({ definition: { name } }) => name)).to.deep.equal([
      "tenant",
      "role",
      "signed-in",
    ]);
  });
});

describe("the router of an application with guards", () => {
  it("refuses each request of another Koa application", async () => {
    const application = build().build();
    const koa = new Koa({}).use(application.routes().router().routes());
    const errors: Error[] = [];
    koa.on("error", (error: Error) => void errors.push(error));
    const server = koa.listen(0);
    await once(server, "listening");
    const origin = `http://localhost:${(server.address() as { readonly port: number }).port}`;
    passed.splice(0);

    for (const path of Object.values(PLACES))
      expect((await fetch(`${origin}${path}`, { method: "POST", body: "{}" })).status).to.equal(500);
    server.close();

    expect(passed).to.deep.equal([]);
    expect(errors.map(({ message }) => message)[0]).to.include("a context of another Koa application");
  });

  it("is refused where no application has made the guards ready", () => {
    expect(() => collection.router()).to.throw(/has schemas or guards, which only an application runs/);
  });
});
