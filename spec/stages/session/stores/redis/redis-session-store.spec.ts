import { Application, Clock, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Session, SessionConfig } from "@stagecraft/framework/session";
import { RedisSessionStore } from "@stagecraft/framework/session/redis";
import { expectProblem, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { obeysSessionStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { Child } from "../../../../support/child.js";
import { Gate } from "../../../../support/gate.js";
import { needRedis, RedisServer } from "../../../../support/redis-server.js";
import { until } from "../../../../support/until.js";

const KEY = "5a".repeat(64);
const OTHER_KEY = "a5".repeat(64);
/** A busy machine may need longer than the default for a command. */
const PATIENT = { commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } };

const routes = () =>
  new Routes([
    Route.get("/", () => "nothing read"),
    Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
    Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
    Route.post("/login", (ctx: Context) => Session.of(ctx).regenerate()),
    Route.post("/sign-in", (ctx: Context) => {
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", 7);
    }),
    Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
    Route.get("/caught", async (ctx: Context) => {
      await Session.of(ctx)
        .get("name")
        .catch(() => undefined);
      return "as if nobody were signed in";
    }),
  ]);

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
const named = async (app: TestApp, cookie: string) => (await app.get("/name", { headers: { cookie } })).text();

const launch = async ({ url }: RedisServer) => {
  const child = await Child.start("../stages/session/stores/redis/session-application.js", { REDIS_URL: url });
  await child.serves();
  return child;
};
const ask = (child: Child, method: string, path: string, cookie = "") =>
  fetch(child.url + path, { method, headers: { cookie } });
const nameIn = async (child: Child, cookie: string) => (await ask(child, "GET", "/name", cookie)).text();

describe("sessions in Redis", function () {
  this.timeout(120_000);
  let server: RedisServer;
  let client: Redis;

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    client = new Redis(server.url);
  });

  after(() => {
    client?.disconnect();
    return server?.kill();
  });

  const store = () => new RedisSessionStore(new RedisCache({ url: server.url, namespace: "shop", ...PATIENT }));
  const start = (config = new SessionConfig(KEY), clock = new FakeClock()) =>
    testApp(Application.create().session(config, store()).routes(routes()), provide(Clock).useValue(clock));

  /** The commands that applications send meanwhile; those inside a script do not count. */
  async function commandsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
    const monitor = await client.monitor();
    const seen: string[] = [];
    monitor.on("monitor", (_time: string, [name = ""]: string[], source: string) => {
      if (source !== "lua") seen.push(name.toLowerCase());
    });
    await work();
    // A command of our own is the last one that the monitor sees.
    await client.echo("done");
    while (!seen.includes("echo")) await new Promise((resolve) => setImmediate(resolve));
    monitor.disconnect();
    return seen.slice(0, seen.indexOf("echo"));
  }

  it("obey the contract of session stores", async () => {
    const cache = new RedisCache({ url: server.url, ...PATIENT });
    await cache.start();

    await obeysSessionStore(new RedisSessionStore(cache));

    await cache.stop();
  });

  it("start and stop with the application, and are part of its health", async () => {
    await using app = await start();

    const { checks } = await (await app.get("/up/ready")).json<{ checks: Record<string, unknown> }>();

    expect(checks).to.deep.equal({ cache: { status: "up" } });
  });

  it("cost one round trip to read and one to write", async () => {
    await using app = await start();
    const cookie = cookieOf(await app.post("/name/Ada"));
    await named(app, cookie);

    expect(await commandsDuring(() => named(app, cookie))).to.deep.equal(["evalsha"]);
    expect(await commandsDuring(() => app.post("/name/Eve", { headers: { cookie } }))).to.deep.equal(["evalsha"]);
    expect(await commandsDuring(() => app.post("/name/Eve"))).to.deep.equal(["evalsha"]);
    expect(await commandsDuring(() => app.post("/login", { headers: { cookie } }))).to.deep.equal(["evalsha"]);
  });

  it("cost no round trip if nothing is read, and for a missing or forged cookie", async () => {
    await using app = await start();
    const cookie = cookieOf(await app.post("/name/Ada"));

    expect(await commandsDuring(() => app.get("/", { headers: { cookie } }))).to.deep.equal([]);
    expect(await commandsDuring(() => app.get("/name"))).to.deep.equal([]);
    expect(await commandsDuring(() => named(app, `${cookie.slice(0, -1)}!`))).to.deep.equal([]);
    expect(await commandsDuring(() => named(app, `__Host-id=${"x".repeat(22)}.${"y".repeat(43)}`))).to.deep.equal([]);
  });

  it("hold only the hash of an id", async () => {
    await using app = await start();
    const id = cookieOf(await app.post("/name/Ada")).slice("__Host-id=".length, -44);

    const keys = await client.keys("*");
    const hash = await client.hgetall(`shop:session:${createHash("sha256").update(id).digest("base64url")}`);

    expect(id).to.have.lengthOf(22);
    expect(hash).to.include({ vname: '"Ada"' });
    expect(keys.join() + JSON.stringify(hash)).not.to.include(id);
  });

  it("are a 503 after another program has changed the record or put it under another key, until they end", async () => {
    await using app = await start();
    const ways: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
      ["a text", async (key) => [await client.del(key), await client.set(key, "x")]],
      ["a list", async (key) => [await client.del(key), await client.lpush(key, "x")]],
      ["a hash of another program", async (key) => [await client.del(key), await client.hset(key, "name", "x")]],
      ...["k", "c", "r", "x"].map((field) => [`without ${field}`, (key: string) => client.hdel(key, field)] as const),
      ...["c", "r", "x"].flatMap((field) =>
        ["", "soon", "nan", "inf"].map(
          (time) => [`with ${field} = "${time}"`, (key: string) => client.hset(key, field, time)] as const,
        ),
      ),
      ["the record of another visitor", (key) => client.hset(key, "k", "another")],
    ];
    for (const [what, change] of ways) {
      const cookie = cookieOf(await app.post("/name/Ada"));
      const id = cookie.slice("__Host-id=".length, -44);
      await change(`shop:session:${createHash("sha256").update(id).digest("base64url")}`);

      for (const [method, path] of [
        ["GET", "/name"],
        ["POST", "/name/Eve"],
        ["POST", "/login"],
      ] as const) {
        const response = await app.request(path, { method, headers: { cookie } });
        expect([response.status, response.headers.getSetCookie()], `${what}: ${path}`).to.deep.equal([503, []]);
      }
      expect((await app.post("/logout", { headers: { cookie } })).status, what).to.equal(204);
      expect(await named(app, cookie), what).to.equal("nobody");
    }
  });

  it("end for thirty slow requests of a visitor who signs out meanwhile", async () => {
    const goOn = new Gate();
    const allBegan = new Gate();
    let begun = 0;
    const slow = Route.post("/slow/{name}", async (ctx: Context<"name">) => {
      const session = Session.of(ctx);
      await session.get("name");
      session.put(ctx.params.name, 1);
      if (ctx.params.name === "9") session.regenerate();
      if (++begun === 30) allBegan.open();
      await goOn.passed;
    });
    const builder = Application.create().session(new SessionConfig(KEY), store());
    await using app = await testApp(builder.routes(routes().merge(new Routes([slow]))));
    const headers = { cookie: cookieOf(await app.post("/name/Ada")) };

    const late = Array.from({ length: 30 }, (_, at) => app.post(`/slow/${at}`, { headers }));
    await allBegan.passed;
    await app.post("/logout", { headers });
    goOn.open();
    const answers = await Promise.all(late);

    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([204]));
    // A sign-in counts: it begins a session with its own values alone.
    expect(answers.flatMap((answer, at) => (cookieOf(answer) === "" ? [] : [at]))).to.deep.equal([9]);
    expect(await named(app, headers.cookie)).to.equal("nobody");
    expect(await named(app, cookieOf(answers[9] as Response))).to.equal("nobody");
  });

  it("continue in one of twenty sign-ins at the same time", async () => {
    await using app = await start();
    const before = cookieOf(await app.post("/name/Ada"));
    const signIn = async () => cookieOf(await app.post("/sign-in", { headers: { cookie: before } }));

    const cookies = await Promise.all(Array.from({ length: 20 }, signIn));
    const names = await Promise.all(cookies.map((cookie) => named(app, cookie)));

    expect(new Set(cookies).size).to.equal(20);
    expect(names.filter((name) => name === "Ada")).to.have.lengthOf(1);
    expect(await named(app, before)).to.equal("nobody");
  });

  it("are shared by two processes, and survive the sudden end of one and its restart", async () => {
    let cookie: string;
    await using one = await launch(server);
    {
      // Disposal kills it.
      await using other = await launch(server);
      cookie = cookieOf(await ask(other, "POST", "/name/Ada"));
    }
    expect(await nameIn(one, cookie)).to.equal("Ada");
    await using restarted = await launch(server);

    expect(await nameIn(restarted, cookie)).to.equal("Ada");
    await ask(restarted, "POST", "/logout", cookie);
    expect(await nameIn(one, cookie)).to.equal("nobody");
  });

  it("are read with an old key while the keys are rotated, and signed with the new one", async () => {
    const clock = new FakeClock();
    await using old = await start(new SessionConfig(KEY), clock);
    await using rotated = await start(new SessionConfig([OTHER_KEY, KEY]), clock);
    await using later = await start(new SessionConfig(OTHER_KEY), clock);
    const before = cookieOf(await old.post("/name/Ada"));

    clock.advance(60_000);
    const renewed = await rotated.get("/name", { headers: { cookie: before } });

    expect(await renewed.text()).to.equal("Ada");
    expect(await named(later, cookieOf(renewed))).to.equal("Ada");
    expect(await named(later, before)).to.equal("nobody");
  });

  it("follow the clock of the application", async () => {
    const clock = new FakeClock();
    await using app = await start(new SessionConfig(KEY, { idleMs: 60_000 }), clock);
    const cookie = cookieOf(await app.post("/name/Ada"));

    clock.advance(59_999);
    expect(await named(app, cookie)).to.equal("Ada");
    clock.advance(60_000);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("are a 503 while Redis is down, also for a handler that catches the error, and come back with it", async () => {
    await using own = await RedisServer.start();
    const cache = new RedisCache({ url: own.url, ...PATIENT });
    const builder = Application.create().session(new SessionConfig(KEY), new RedisSessionStore(cache)).routes(routes());
    await using app = await testApp(builder);
    const cookie = cookieOf(await app.post("/name/Ada"));
    await own.kill();

    for (const [path, method] of [
      ["/name", "GET"],
      ["/caught", "GET"],
      ["/name/Eve", "POST"],
      ["/logout", "POST"],
    ] as const) {
      const response = await app.request(path, { method, headers: { cookie } });
      await expectProblem(response, {
        status: 503,
        detail: "The session store is unavailable. Please try again shortly.",
      });
      expect(response.headers.getSetCookie()).to.deep.equal([]);
    }
    expect(await (await app.get("/", { headers: { cookie } })).text()).to.equal("nothing read");
    expect(await (await app.get("/name")).text()).to.equal("nobody");
    expect(app.logs.transcript()).to.include("session store failed");
  });

  it("are a 503 when Redis is killed between the read and the save", async () => {
    await using own = await RedisServer.start();
    const read = new Gate();
    const goOn = new Gate();
    const slow = Route.post("/slow", async (ctx: Context) => {
      const name = await Session.of(ctx).get("name");
      read.open();
      await goOn.passed;
      Session.of(ctx).put("name", `${String(name)} again`);
      return "done";
    });
    const session = new RedisSessionStore(new RedisCache({ url: own.url, ...PATIENT }));
    const builder = Application.create()
      .session(new SessionConfig(KEY), session)
      .routes(routes().merge(new Routes([slow])));
    await using app = await testApp(builder);
    const cookie = cookieOf(await app.post("/name/Ada"));

    const response = app.post("/slow", { headers: { cookie } });
    await read.passed;
    await own.kill();
    goOn.open();

    await expectProblem(await response, { status: 503 });
  });

  it("are a 503 while Redis does not reply", async () => {
    await using own = await RedisServer.start();
    const cache = new RedisCache({ url: own.url, commandTimeoutMs: 500 });
    const builder = Application.create().session(new SessionConfig(KEY), new RedisSessionStore(cache)).routes(routes());
    await using app = await testApp(builder);
    let cookie = "";
    // A busy machine may need longer than the limit.
    await until(async () => (cookie = cookieOf(await app.post("/name/Ada"))) !== "");
    own.halt();

    await expectProblem(await app.get("/name", { headers: { cookie } }), { status: 503 });
    own.resume();
  });

  it("refuse a value that is not a cache", () => {
    // @ts-expect-error a URL is not a Cache
    expect(() => new RedisSessionStore("redis://127.0.0.1")).to.throw(TypeError);
  });
});
