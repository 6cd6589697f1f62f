import { Application, Clock, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { CsrfConfig, Session, SessionConfig, sessionKey, type SessionStore } from "@stagecraft/framework/session";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../../support/gate.js";

const KEY = "5a".repeat(64);
const DAY_MS = 86_400_000;
const NAME = sessionKey<string>("name");

export function sessionRoutes(): Routes {
  return new Routes([
    Route.get("/", () => "nothing read"),
    Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get(NAME)) ?? "nobody"),
    Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put(NAME, ctx.params.name)),
    Route.post("/forget", (ctx: Context) => Session.of(ctx).forget(NAME)),
    Route.post("/login", (ctx: Context) => Session.of(ctx).regenerate()),
    Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
    Route.post("/panic", (ctx: Context) => {
      Session.of(ctx).put(NAME, "lost");
      throw new TypeError("of the handler");
    }),
  ]);
}

function start(
  config: SessionConfig = new SessionConfig(KEY),
  {
    store,
    clock = new FakeClock(),
    routes = sessionRoutes(),
  }: { store?: SessionStore; clock?: Clock; routes?: Routes } = {},
): Promise<TestApp> {
  return testApp(Application.create().session(config, store).routes(routes), provide(Clock).useValue(clock));
}

function cookieOf(response: Response): string {
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

/** Safari's rule for plain HTTP, where localhost is not an exception; and the rules of all browsers for prefixes and for `None`. */
const safariTakes = (line: string) => !/; Secure|^__(?:Host|Secure)-|; SameSite=None/i.test(line);

const named = async (app: TestApp, cookie: string) => (await app.get("/name", { headers: { cookie } })).text();

describe("a session", () => {
  it("keeps a value from request to request", async () => {
    await using app = await start();
    const browser = app.withCookies();

    await browser.post("/name/Ada");

    expect(await (await browser.get("/name")).text()).to.equal("Ada");
    expect(await (await app.get("/name")).text()).to.equal("nobody");
  });

  it("is created by the first put, and by no read", async () => {
    await using app = await start();

    expect((await app.get("/")).headers.getSetCookie()).to.deep.equal([]);
    expect((await app.get("/name")).headers.getSetCookie()).to.deep.equal([]);
    expect((await app.post("/forget")).headers.getSetCookie()).to.deep.equal([]);
    expect((await app.post("/login")).headers.getSetCookie()).to.deep.equal([]);
    expect((await app.post("/logout")).headers.getSetCookie()).to.deep.equal([]);
    expect((await app.post("/name/Ada")).headers.getSetCookie()).to.have.lengthOf(1);
  });

  it("has the cookie of its configuration", async () => {
    const table: readonly [SessionConfig, RegExp][] = [
      [
        new SessionConfig(KEY),
        /^__Host-id=[\w-]{22}\.[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      ],
      [SessionConfig.dev(KEY), /^framework-id=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/],
      [SessionConfig.pages(KEY), /^__Host-id=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/],
      [SessionConfig.pages(KEY).dev(), /^framework-id=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/],
      [
        new SessionConfig(KEY, { name: "shop", domain: "shop.example", path: "/shop", idleMs: 60_000 }),
        /^shop=[\w.-]+; Max-Age=60; Path=\/shop; Domain=shop\.example; HttpOnly; Secure; SameSite=Strict$/,
      ],
    ];
    for (const [config, line] of table) {
      await using app = await start(config);
      const [cookie] = (await app.post("/name/Ada")).headers.getSetCookie();
      expect(cookie).to.match(line);
    }
  });

  it("has a cookie of development that Safari takes on http://localhost, as has the CSRF token", async () => {
    for (const [session, csrf, expected] of [
      [SessionConfig.dev(KEY), CsrfConfig.dev(), true],
      [SessionConfig.pages(KEY).dev(), CsrfConfig.pages().dev(), true],
      [SessionConfig.pages(KEY, { sameSite: "None" }).dev(), CsrfConfig.pages().dev(), true],
      [SessionConfig.pages(KEY), CsrfConfig.pages(), false],
    ] as const) {
      const set = Route.get("/", (ctx: Context) => Session.of(ctx).put(NAME, "Ada"));
      await using app = await testApp(
        Application.create()
          .session(session)
          .csrf(csrf)
          .routes(new Routes([set])),
      );
      const lines = (await app.get("/")).headers.getSetCookie();
      expect(lines.map(safariTakes)).to.deep.equal([expected, expected]);
    }
  });

  it("ends after 14 days without use, and each use extends it", async () => {
    const clock = new FakeClock();
    await using app = await start(undefined, { clock });
    const cookie = cookieOf(await app.post("/name/Ada"));

    clock.advance(13 * DAY_MS);
    expect(await named(app, cookie)).to.equal("Ada");
    clock.advance(13 * DAY_MS);
    expect(await named(app, cookie)).to.equal("Ada");
    clock.advance(14 * DAY_MS);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("ends 30 days after its creation, however much it is used", async () => {
    const clock = new FakeClock();
    await using app = await start(undefined, { clock });
    const cookie = cookieOf(await app.post("/name/Ada"));
    for (let day = 10; day <= 20; day += 10) {
      clock.advance(10 * DAY_MS);
      expect(await named(app, cookie)).to.equal("Ada");
    }
    clock.advance(10 * DAY_MS - 1);
    const last = await app.get("/name", { headers: { cookie } });
    expect(await last.text()).to.equal("Ada");
    expect(last.headers.getSetCookie()[0]).to.include("Max-Age=1;");
    clock.advance(1);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("is renewed at most once a minute, by requests that read it", async () => {
    const clock = new FakeClock();
    await using app = await start(undefined, { clock });
    const cookie = cookieOf(await app.post("/name/Ada"));
    const renewals = async (path: string) =>
      (await app.get(path, { headers: { cookie } })).headers.getSetCookie().length;

    clock.advance(59_999);
    expect(await renewals("/name")).to.equal(0);
    clock.advance(1);
    expect(await renewals("/")).to.equal(0);
    expect(await renewals("/name")).to.equal(1);
    expect(await renewals("/name")).to.equal(0);

    clock.advance(60_000);
    const parallel = await Promise.all(Array.from({ length: 50 }, () => renewals("/name")));
    expect(parallel.filter((count) => count > 0)).to.deep.equal([1]);
  });

  it("gets a new id by regenerate, keeps its values, and the old id ends", async () => {
    await using app = await start();
    const before = cookieOf(await app.post("/name/Ada"));

    const after = cookieOf(await app.post("/login", { headers: { cookie: before } }));

    expect(after).not.to.equal(before);
    expect(await named(app, after)).to.equal("Ada");
    expect(await named(app, before)).to.equal("nobody");
  });

  it("ends with its cookie after flush", async () => {
    await using app = await start();
    const cookie = cookieOf(await app.post("/name/Ada"));

    const response = await app.post("/logout", { headers: { cookie } });

    expect(response.headers.getSetCookie()).to.deep.equal([
      "__Host-id=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
    ]);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("is not saved after an unhandled error", async () => {
    await using app = await start();
    const cookie = cookieOf(await app.post("/name/Ada"));

    expect((await app.post("/panic", { headers: { cookie } })).status).to.equal(500);

    expect(await named(app, cookie)).to.equal("Ada");
  });

  it("is not restored by a slow request that ends after the sign-out", async () => {
    const begun = new Gate();
    const goOn = new Gate();
    const slow = Route.post("/slow", async (ctx: Context) => {
      Session.of(ctx).put(NAME, "back again");
      begun.open();
      await goOn.passed;
      return "late";
    });
    await using app = await start(undefined, { routes: sessionRoutes().merge(new Routes([slow])) });
    const cookie = cookieOf(await app.post("/name/Ada"));

    const late = app.post("/slow", { headers: { cookie } });
    await begun.passed;
    await app.post("/logout", { headers: { cookie } });
    goOn.open();

    expect((await late).headers.getSetCookie()).to.deep.equal([]);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("continues in the first of two sign-ins at the same time; the second one has its own values alone", async () => {
    const waits = [new Gate(), new Gate()];
    let begun = 0;
    const bothBegan = new Gate();
    const signIn = Route.post("/sign-in/{at}", async (ctx: Context<"at">) => {
      const at = Number(ctx.params.at);
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", at);
      if (++begun === 2) bothBegan.open();
      await waits[at]?.passed;
    });
    const all = Route.get("/all", (ctx: Context) =>
      Promise.all(["user", "name"].map(async (key) => (await Session.of(ctx).get(key)) ?? null)),
    );
    await using app = await start(undefined, { routes: sessionRoutes().merge(new Routes([signIn, all])) });
    const cookie = cookieOf(await app.post("/name/Ada"));
    const [one, other] = [
      app.post("/sign-in/0", { headers: { cookie } }),
      app.post("/sign-in/1", { headers: { cookie } }),
    ];
    await bothBegan.passed;
    waits[0]?.open();
    const first = cookieOf(await one);
    waits[1]?.open();
    const second = cookieOf(await other);

    const found = [cookie, first, second].map(async (each) =>
      (await app.get("/all", { headers: { cookie: each } })).json(),
    );
    expect(await Promise.all(found)).to.deep.equal([
      [null, null],
      [0, "Ada"],
      [1, null],
    ]);
  });
});
