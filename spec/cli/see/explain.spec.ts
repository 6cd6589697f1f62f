import { expect } from "chai";
import type { Explanation } from "../../../lib/cli/see/explain.js";
import { ApplicationFolder } from "../../support/application-folder.js";

const APP = `
import { Application, Get, guard, Guards, Post, Reply, Route, Routes, routes } from "@stagecraft/framework";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { randomBytes } from "node:crypto";

function show() {}
function create() {}
const all = [
  Route.get("/links/{id}", show).name("links.show").middleware(async function noStore(ctx, next) { await next(); }),
  Route.get("/links/{*rest}", show),
  Route.delete("/links/{id}", show),
  Route.post("/links", create),
  Route.post("/hooks", create, { csrf: "exempt" }),
];
export default () =>
  Application.create()
    .routes(new Routes(all))
    .requestId()
    .timeout(1000, { status: 503 })
    .session(SessionConfig.dev(randomBytes(64)))
    .csrf(CsrfConfig.dev())
    .devProxy()
    .redirectMapper(false);
`;

/** Compiled, so that its places come from a source map. */
const SHOP = `import {
  Application, BodyLimitLayer, type Context, Controller, guard, Guards, Injectable, Middleware, middleware, Module, type Next, Post,
  RateLimit, Route, RouteGroup, Routes, TimeoutLayer, provide,
} from "@stagecraft/framework";
import { Idempotency, MemoryIdempotencyStore } from "@stagecraft/framework/idempotency";
import { z } from "zod";

const signedIn = guard("signed-in", { refusals: [401] });
const role = guard<object, [name: string]>("role", { refusals: [403] });

@Injectable()
class Accounts {
  @Guards(signedIn)
  check() {}

  @Guards(role)
  async has(_ctx: Context, _name: string) {}
}

class NoStore {
  handle(_ctx: Context, next: Next) {
    return next();
  }
}

const Timed = middleware((_ctx, next) => next(), "timed");
const create = Post("/", { guards: [signedIn, role("admin")], body: z.object({ url: z.string() }), idempotent: true });

@Controller("/links")
@Middleware(RateLimit.perMinute(5))
class LinksController {
  @create
  @Middleware(NoStore, Timed)
  create() {
    return {};
  }
}

const keys = () => new Idempotency(new MemoryIdempotencyStore(), { principal: () => "one" });
@Module({ controllers: [LinksController], providers: [Accounts, provide(Idempotency).useFactory(keys)] })
class ShopModule {}

const limited = new RouteGroup("/photos", [
  Route.post("/", store.bind(undefined)).middleware(new BodyLimitLayer(100), new TimeoutLayer(5, { status: 503 })),
  Route.query("/", (ctx) => ctx.text(), { bearer: true }).middleware(new TimeoutLayer(5)),
]).middleware(new NoStore());

function store() {}

export default () => Application.create(ShopModule).routes(new Routes([limited]));
`;

const FOLDERS = { rootDir: "src", outDir: "dist" };
const SHOP_FILES = {
  "src/app.ts": SHOP,
  "tsconfig.json": JSON.stringify({
    compilerOptions: { ...FOLDERS, experimentalDecorators: true, verbatimModuleSyntax: true, sourceMap: true },
    include: ["src"],
  }),
  "package.json": JSON.stringify({ type: "module", stagecraft: { app: "src/app.ts" } }),
};

async function explainShop(method: string, path: string): Promise<Explanation> {
  using folder = new ApplicationFolder(SHOP_FILES);
  folder.install("zod", "reflect-metadata");
  const { stdout, stderr } = await folder.call("explain", method, path, "--json");
  expect(stderr).to.equal("");
  return JSON.parse(stdout) as Explanation;
}

/** `src/app.ts:7`, where a text is. */
function lineOf(text: string): string {
  return `src/app.ts:${SHOP.slice(0, SHOP.indexOf(text)).split("\n").length}`;
}

const withoutColumn = ({ name, at }: { readonly name: string; readonly at: string | null }) =>
  `${name} ${at?.replace(/:\d+$/, "")}`;

async function explain(method: string, path: string): Promise<Explanation & { readonly code: number | null }> {
  using folder = new ApplicationFolder({ "app.js": APP });
  const { code, stdout } = await folder.call("explain", method, path, "--json");
  return { code, ...(JSON.parse(stdout) as Explanation) };
}

describe("stagecraft explain", () => {
  it("names the route of a request, with its middleware, and the others that match the path", async () => {
    const { code, route, considered } = await explain("GET", "/links/7?page=2");

    expect(code).to.equal(0);
    expect(route).to.deep.equal({
      method: "GET",
      path: "/links/{id}",
      name: "links.show",
      handler: "show",
      module: "",
      at: "app.js:6:14",
      options: {},
      guards: [],
      middleware: [{ name: "noStore", at: "app.js:9:86" }],
      policies: [],
    });
    expect(considered.map(({ method, path, why }) => `${method} ${path} ${why}`)).to.deep.equal([
      "GET /links/{id} handles the request: the most specific template with the method",
      "GET /links/{*rest} is less specific",
      "DELETE /links/{id} is for DELETE",
    ]);
  });

  it("names the lines of a controller, its guards and its middleware, in the order in which they run", async () => {
    const { route } = await explainShop("POST", "/links");

    expect([{ name: String(route?.handler), at: route?.at ?? null }].map(withoutColumn)).to.deep.equal([
      `LinksController.create ${lineOf("create() {\n")}`,
    ]);
    expect(route?.guards.map(withoutColumn)).to.deep.equal([
      `signed-in by Accounts.check ${lineOf("check() {}")}`,
      `role("admin") by Accounts.has ${lineOf("async has(")}`,
    ]);
    expect(route?.middleware.map(withoutColumn)).to.deep.equal([
      "RateLimit undefined",
      `NoStore ${lineOf("handle(_ctx")}`,
      `Timed ${lineOf("const Timed")}`,
    ]);
  });

  it("names the lines of a bound function, of an arrow and of an instance", async () => {
    const bound = await explainShop("POST", "/photos");
    const arrow = await explainShop("QUERY", "/photos");

    expect(bound.route?.at).to.match(new RegExp(`^${lineOf("function store")}:\\d+$`));
    expect(arrow.route?.at).to.match(new RegExp(`^${lineOf("(ctx) => ctx.text()")}:\\d+$`));
    expect(arrow.route?.options).to.deep.equal({ bearer: true });
    expect(arrow.route?.middleware.map(withoutColumn)).to.deep.equal([
      `NoStore ${lineOf("handle(_ctx")}`,
      "TimeoutLayer undefined",
    ]);
  });

  const shopRefusals: readonly (readonly [string, string, readonly string[]])[] = [
    [
      "POST",
      "/links",
      [
        "401 guard signed-in",
        "403 guard role",
        "429 RateLimit",
        "415 contract",
        "400 contract",
        "413 contract",
        "422 contract",
        "400 contract",
        "409 contract",
        "422 contract",
      ],
    ],
    ["POST", "/photos", ["413 BodyLimitLayer", "503 TimeoutLayer"]],
    ["QUERY", "/photos", ["400 router", "408 TimeoutLayer"]],
  ];
  for (const [method, path, statuses] of shopRefusals) {
    it(`lists what the guards, the limits and the contract of ${method} ${path} may refuse`, async () => {
      const { refusals: found } = await explainShop(method, path);

      expect(found.map(({ status, by }) => `${status} ${by}`)).to.deep.equal(statuses);
    });
  }

  it("says why each stage is on or off, with the line of the call", async () => {
    const { stages } = await explain("GET", "/links/7");

    const because = Object.fromEntries(
      stages.map(({ slot, on, because: why }) => [slot, `${on ? "on" : "off"}: ${why}`]),
    );
    expect(because).to.include({
      requestId: "on: .requestId() at app.js:18:6",
      timeout: "on: .timeout(…) at app.js:19:6",
      health: "on: is on unless the builder switches it off",
      router: "on: every application has it",
      compression: "off: .compression(…) is not called",
      devProxy: "off: FRAMEWORK_VITE_IPC is not set; .devProxy(…) at app.js:22:6",
      redirectMapper: "off: switched off by .redirectMapper(on) at app.js:23:6",
    });
    expect(stages).to.have.length(25);
  });

  const refusals: readonly (readonly [string, string, readonly string[]])[] = [
    ["GET", "/links/7", ["503 timeout"]],
    ["POST", "/links", ["503 timeout", "403 csrf"]],
    ["POST", "/hooks", ["503 timeout"]],
    ["PUT", "/links", ["503 timeout", "403 csrf", "405 router"]],
    ["GET", "/none", ["503 timeout", "404 router"]],
  ];
  for (const [method, path, statuses] of refusals) {
    it(`lists what may refuse ${method} ${path}`, async () => {
      const found = await explain(method, path);

      expect(found.refusals.map(({ status, by }) => `${status} ${by}`)).to.deep.equal(statuses);
    });
  }

  it("names the nearest route where none has the path, and exits with 1", async () => {
    expect(await explain("GET", "/linsk")).to.include({ code: 1, route: null, nearest: "POST /links" });
    expect(await explain("GET", "/link/7")).to.include({ code: 1, nearest: "GET /links/{id}" });
  });

  it("knows the health endpoints", async () => {
    expect(await explain("GET", "/up/ready")).to.include({ code: 0, isHealth: true });
  });

  it("prints the parts for a reader", async () => {
    using folder = new ApplicationFolder({ "app.js": APP });

    const { stdout } = await folder.call("explain", "get", "/links/7");

    expect(stdout).to.match(
      /^GET \/links\/7 is handled by show at app\.js:6:14\n {2}route +GET \/links\/\{id\}, named links\.show\n/,
    );
    for (const title of ["Considered", "Stages", "Refusals"]) expect(stdout).to.include(`\n\n${title}\n`);
  });

  it("refuses a path without its slash", async () => {
    using folder = new ApplicationFolder({ "app.js": APP });

    expect(await folder.call("explain", "GET", "links")).to.include({ code: 2 });
    expect(await folder.call("explain", "GET")).to.include({ code: 2 });
  });
});
