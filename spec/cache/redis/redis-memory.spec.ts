/** A Redis that has no memory left and may delete nothing by itself: what needs memory is refused, and what frees some works. */
import { Application, Clock, provide, RateLimit, Route, Routes, type Context } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Session, SessionConfig } from "@stagecraft/framework/session";
import { RedisSessionStore } from "@stagecraft/framework/session/redis";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Redis } from "ioredis";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { rejectionOf } from "../../support/rejection-of.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MEBIBYTE = 1_048_576;
const LIMIT = 8 * MEBIBYTE;
const LARGE = "x".repeat(MEBIBYTE / 4);
const PATIENT = { commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } };

const routes = new Routes([
  Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
  Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
  Route.post("/forget", (ctx: Context) => Session.of(ctx).forget("name")),
  Route.post("/sign-in", (ctx: Context) => {
    Session.of(ctx).regenerate();
    Session.of(ctx).put("user", 7);
  }),
  Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
]);

async function inTurn(write: (at: number) => unknown): Promise<void> {
  for (let at = 1; at < 200; at++) await write(at);
}

describe("a Redis without memory", function () {
  this.timeout(60_000);
  let server: RedisServer;
  let client: Redis;
  let cache: RedisCache;

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    client = new Redis(server.url);
    cache = new RedisCache({ url: server.url, ...PATIENT });
    await cache.start();
  });

  after(async () => {
    await cache?.stop();
    client?.disconnect();
    await server?.kill();
  });

  beforeEach(async () => {
    await client.config("SET", "maxmemory", "0");
    await client.flushall();
  });

  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
  /** From now on the server is over its limit. */
  const exhaust = () => client.config("SET", "maxmemory", "1");

  for (const [what, write] of [
    ["new values", (at: number) => cache.set(`key ${at}`, LARGE, HOUR_MS)],
    ["values that replace others", (at: number) => cache.set(`key ${at % 20}`, LARGE.repeat(at), HOUR_MS)],
    ["values with a tag", (at: number) => cache.set(`key ${at}`, LARGE, HOUR_MS, { tags: ["tag"] })],
    ["made values", (at: number) => cache.remember(`key ${at}`, HOUR_MS, () => LARGE)],
  ] as const) {
    it(`refuses ${what} at its limit`, async () => {
      await client.config("SET", "maxmemory", String(LIMIT));
      expect(await rejectionOf(inTurn(write))).to.have.property("code", "E_CACHE_UNAVAILABLE");
      // One value may go beyond the limit.
      expect(await usedMemory()).to.be.below(2 * LIMIT);
    });
  }

  it("keeps the value that it has when it refuses another one", async () => {
    await cache.set("key", "old", HOUR_MS);
    await exhaust();

    const error = await rejectionOf(cache.set("key", "new", HOUR_MS));

    expect(error).to.have.property("code", "E_CACHE_UNAVAILABLE");
    expect(await cache.get("key")).to.equal("old");
  });

  it("invalidates and deletes values", async () => {
    await cache.set("tagged", 1, HOUR_MS, { tags: ["tag"] });
    await cache.set("other", 1, HOUR_MS);
    await exhaust();

    await cache.invalidate("tag");
    const isDeleted = await cache.delete("other");

    expect([await cache.get("tagged"), isDeleted]).to.deep.equal([undefined, true]);
  });

  it("refuses changes of a session and a sign-in, and ends a session", async () => {
    const builder = Application.create()
      .session(
        new SessionConfig("5a".repeat(64)),
        new RedisSessionStore(new RedisCache({ url: server.url, ...PATIENT })),
      )
      .routes(routes);
    await using app = await testApp(builder);
    const created = await app.post("/name/Ada");
    const cookie = created.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const status = async (path: string) => (await app.post(path, { headers: { cookie } })).status;
    const name = async () => (await app.get("/name", { headers: { cookie } })).text();
    await exhaust();

    expect([await status("/name/Eve"), await status("/sign-in"), (await app.post("/name/New")).status]).to.deep.equal([
      503, 503, 503,
    ]);
    expect(await name()).to.equal("Ada");
    expect(await status("/forget")).to.equal(204);
    expect(await status("/logout")).to.equal(204);
    expect(await name()).to.equal("nobody");
  });

  it("serves a session that is only read, and renews it beyond its 14 days", async () => {
    const clock = new FakeClock();
    const builder = Application.create()
      .session(
        new SessionConfig("5a".repeat(64)),
        new RedisSessionStore(new RedisCache({ url: server.url, ...PATIENT })),
      )
      .routes(routes);
    await using app = await testApp(builder, provide(Clock).useValue(clock));
    const created = await app.post("/name/Ada");
    const cookie = created.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const read = () => app.get("/name", { headers: { cookie } });
    await exhaust();

    clock.advance(10 * DAY_MS);
    const renewed = await read();
    clock.advance(10 * DAY_MS);

    expect([renewed.status, await renewed.text()]).to.deep.equal([200, "Ada"]);
    expect(await (await read()).text()).to.equal("Ada");
  });

  it("refuses the bucket of a rate limit", async () => {
    const limit = RateLimit.perMinute(10).redis(new RedisCache({ url: server.url, ...PATIENT }));
    await using app = await testApp(Application.create().rateLimit(limit).routes(routes));
    await exhaust();

    expect((await app.get("/name")).status).to.equal(503);
  });
});
