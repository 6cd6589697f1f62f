import { expect } from "chai";
import { Redis } from "ioredis";
import { RedisCache, type RedisCacheOptions } from "../../lib/redis/redis-cache.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { CacheUnavailableError } from "../../lib/lifecycle/cache.js";
import { eventsOf } from "../support/events-of.js";
import { errorOf } from "../support/error-of.js";
import { needRedis, RedisServer } from "../support/redis-server.js";
import { unhandledDuring } from "../support/unhandled-during.js";
import { until } from "../support/until.js";

/** A cache on a server of its own, with a client beside it that looks behind its back. */
class Rig implements AsyncDisposable {
  private constructor(
    readonly server: RedisServer,
    readonly cache: RedisCache,
    readonly redis: Redis,
  ) {}

  static async start(options: RedisCacheOptions = {}): Promise<Rig> {
    const server = await RedisServer.start();
    const cache = new RedisCache({ url: server.url, namespace: "shop", ...options });
    await cache.start();
    const redis = new Redis(server.url, { retryStrategy: () => null });
    redis.on("error", () => {});
    return new Rig(server, cache, redis);
  }

  async works(): Promise<boolean> {
    return this.cache.probe().then(
      () => true,
      () => false,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache.stop();
    this.redis.disconnect();
    await this.server.kill();
  }
}

async function failureOf(work: Promise<unknown>): Promise<{ readonly error: unknown; readonly ms: number }> {
  const start = performance.now();
  try {
    await work;
  } catch (error) {
    return { error, ms: performance.now() - start };
  }
  throw new Error("nothing was thrown");
}

describe("RedisCache", function () {
  this.slow(2000);
  before(function () {
    needRedis(this);
  });

  it("keeps JSON below its namespace, and knows a miss from a null", async () => {
    await using rig = await Rig.start();

    await rig.cache.set("user:7", { name: "Ada", tags: [null] }, 60_000);
    await rig.cache.set("nobody", null, 60_000);

    expect(await rig.cache.get("user:7")).to.deep.equal({ name: "Ada", tags: [null] });
    expect(await rig.cache.get("nobody")).to.equal(null);
    expect(await rig.cache.get("nothing")).to.equal(undefined);
    expect((await rig.redis.keys("*")).toSorted()).to.deep.equal(["shop:cache:nobody", "shop:cache:user:7"]);
  });

  it("has every value expire", async () => {
    await using rig = await Rig.start();

    await rig.cache.set("short", 1, 90_000);

    expect(await rig.redis.pttl("shop:cache:short")).to.be.within(80_000, 90_000);
  });

  it("says whether there was something to delete", async () => {
    await using rig = await Rig.start();
    await rig.cache.set("once", 1, 60_000);

    expect([await rig.cache.delete("once"), await rig.cache.delete("once")]).to.deep.equal([true, false]);
  });

  it("takes what is no JSON for an error, not for a miss", async () => {
    await using rig = await Rig.start();
    await rig.redis.set("shop:cache:spoiled", "{oops");
    await rig.redis.hset("shop:cache:hash", "a", 1);

    const spoiled = await failureOf(rig.cache.get("spoiled"));
    const hash = await failureOf(rig.cache.get("hash"));

    expect(spoiled.error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
    expect(hash.error).to.be.instanceOf(CacheUnavailableError).with.property("status", 503);
  });

  it("runs a script by its digest, and teaches it to a server that does not know it", async () => {
    await using rig = await Rig.start();
    const script = rig.cache.script("return { KEYS[1], ARGV[1], ARGV[2] }");

    const first = await script.run(["k"], ["a", 2]);
    const second = await script.run(["k"], ["b", 3]);
    await rig.redis.script("FLUSH");
    const third = await script.run(["k"], ["c", 4]);

    expect([first, second, third]).to.deep.equal([
      ["shop:k", "a", "2"],
      ["shop:k", "b", "3"],
      ["shop:k", "c", "4"],
    ]);
    const calls = await rig.redis.info("commandstats");
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(calls)?.[1]).to.equal("3");
    expect(/cmdstat_eval:calls=(\d+)/.exec(calls)?.[1]).to.equal("2");
  });

  for (const [what, ask] of [
    ["get", (cache: RedisCache) => cache.get("k")],
    ["set", (cache: RedisCache) => cache.set("k", 1, 1000)],
    ["delete", (cache: RedisCache) => cache.delete("k")],
    ["script", (cache: RedisCache) => cache.script("return 1").run([], [])],
  ] as const) {
    it(`leaves a failure of ${what} to the caller that awaits it later`, async () => {
      // Not started: without a connection every command fails at once.
      const cache = new RedisCache({ url: "redis://127.0.0.1:1" });
      let failure: unknown;

      const unhandled = await unhandledDuring(async () => {
        const asked = ask(cache);
        await new Promise((resolve) => setImmediate(resolve));
        ({ error: failure } = await failureOf(asked));
      });
      await cache.stop();

      expect(failure).to.be.instanceOf(CacheUnavailableError);
      expect(unhandled).to.deep.equal([]);
    });
  }

  it("hands on the failure of a script", async () => {
    await using rig = await Rig.start();

    const { error } = await failureOf(rig.cache.script("return redis.call('NOSUCH')").run([], []));

    expect(error).to.be.instanceOf(CacheUnavailableError);
  });

  it("is fit as long as the server answers", async () => {
    await using rig = await Rig.start();

    const before = await rig.works();
    await rig.server.kill();
    const after = await rig.works();

    expect([before, after]).to.deep.equal([true, false]);
  });

  it("does not start without a server, and says why", async () => {
    const server = await RedisServer.start();
    await server.kill();
    const cache = new RedisCache({ url: server.url });

    const { error } = await failureOf(cache.start());

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(String(error)).to.contain(`ECONNREFUSED 127.0.0.1:${server.port}`);
  });

  it("does not start where the server does not let it in, and does not repeat the password", async () => {
    await using rig = await Rig.start();
    await rig.redis.config("SET", "requirepass", "sesame");
    const cache = new RedisCache({ url: rig.server.url.replace("//", "//:wrong-word@") });

    const { error } = await failureOf(cache.start());

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(String(error)).to.contain("WRONGPASS").and.not.to.contain("wrong-word");
  });

  it("stops without a trace, also when it was never started or has lost the server", async () => {
    const idle = new RedisCache();
    await idle.stop();

    const rig = await Rig.start();
    await rig.server.kill();
    await rig[Symbol.asyncDispose]();

    expect((await failureOf(rig.cache.get("x"))).error).to.be.instanceOf(CacheUnavailableError);
  });

  describe("waits no longer than it may", () => {
    it("for a server that has come to a halt: half a second, then not at all", async () => {
      await using rig = await Rig.start();

      rig.server.halt();
      const crowd = await Promise.all([1, 2, 3].map(() => failureOf(rig.cache.get("x"))));
      await until(async () => (await failureOf(rig.cache.get("x"))).ms < 50);
      rig.server.resume();
      await until(() => rig.works());

      for (const { error, ms } of crowd) {
        expect(error).to.be.instanceOf(CacheUnavailableError);
        expect(ms).to.be.within(490, 1500);
      }
    });

    it("for a server that is gone in the middle of a command", async () => {
      await using rig = await Rig.start();
      rig.server.halt();

      const waiting = failureOf(rig.cache.get("x"));
      await rig.server.kill();
      const { error, ms } = await waiting;

      expect(error).to.be.instanceOf(CacheUnavailableError);
      expect(ms).to.be.below(450);
    });

    it("for a server that is gone: it fails at once, and works again when the server is back", async () => {
      await using rig = await Rig.start();
      await rig.server.kill();
      await until(async () => String((await failureOf(rig.cache.get("x"))).error).includes("cannot be reached"));

      const { error, ms } = await failureOf(rig.cache.get("x"));
      expect(String(error)).to.match(/Redis cannot be reached: (?:the connection was closed|connect ECONNREFUSED)/);
      await rig.server.restart();
      await until(() => rig.works());

      expect(error).to.be.instanceOf(CacheUnavailableError);
      expect(ms).to.be.below(100);
    });

    it("for a connection that is not there: nothing is kept until it is", async () => {
      await using rig = await Rig.start({ client: { retryStrategy: () => 60_000 } });
      await rig.server.kill();
      await until(async () => String((await failureOf(rig.cache.get("x"))).error).includes("cannot be reached"));

      const { error, ms } = await failureOf(rig.cache.set("x", 1, 60_000));

      expect(error).to.be.instanceOf(CacheUnavailableError);
      expect(ms).to.be.below(100);
    });

    it("and never sends again what may have been done already", async () => {
      await using rig = await Rig.start();
      const count = rig.cache.script("return redis.call('INCR', KEYS[1])");
      await count.run(["n"], []);

      rig.server.halt();
      const failures = await Promise.all([1, 2, 3].map(() => failureOf(count.run(["n"], []))));
      await until(async () => (await failureOf(rig.cache.get("x"))).ms < 50);
      rig.server.resume();
      await until(() => rig.works());

      expect(failures.every(({ error }) => error instanceof CacheUnavailableError)).to.equal(true);
      // Sent once before the halt; the three were on the wire, so each may count once and no more.
      expect(Number(await rig.redis.get("shop:n"))).to.be.within(1, 4);
    });
  });

  it("connects anew where the server has become one that only reads, as after a failover", async () => {
    await using rig = await Rig.start();
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await rig.redis.info("stats"))?.[1]);
    // Of a primary that is not there, so that nobody but its clients connects to it.
    await rig.redis.replicaof("127.0.0.1", "1");
    const before = await connections();

    const { error } = await failureOf(rig.cache.set("x", 1, 60_000));
    await until(async () => (await connections()) > before);
    await rig.redis.replicaof("NO", "ONE");
    await until(() => rig.works());
    await rig.cache.set("x", 2, 60_000);

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(await rig.cache.get("x")).to.equal(2);
  });

  it("says once that the connection is lost, and once that it is back", async () => {
    const events = await eventsOf(async () => {
      await using rig = await Rig.start();
      await rig.server.kill();
      await until(async () => !(await rig.works()));
      await rig.server.restart();
      await until(() => rig.works());
    });

    expect(events.map((line) => line.replace(/ error=.*/, ""))).to.deep.equal([
      "WARN framework::cache::redis: connection lost",
      "INFO framework::cache::redis: connection restored",
    ]);
  });

  const refused: readonly (readonly [RedisCacheOptions, string])[] = [
    [{ namespace: "" }, "E_CACHE_NAMESPACE"],
    [{ namespace: "a:b" }, "E_CACHE_NAMESPACE"],
    [{ url: "http://127.0.0.1:6379" }, "E_CACHE_URL"],
    [{ url: "127.0.0.1:6379" }, "E_CACHE_URL"],
    [{ url: "" }, "E_CACHE_URL"],
    [{ commandTimeoutMs: 0 }, "E_CACHE_TIMEOUT"],
    [{ commandTimeoutMs: 0.5 }, "E_CACHE_TIMEOUT"],
    [{ commandTimeoutMs: 2 ** 31 }, "E_CACHE_TIMEOUT"],
  ];
  for (const [options, code] of refused) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(errorOf(() => new RedisCache(options)))
        .to.be.instanceOf(FrameworkError)
        .with.property("code", code);
    });
  }

  it("keeps the password to itself when it refuses a URL", () => {
    expect(errorOf(() => new RedisCache({ url: "rdis://:sesame@host" })).message).not.to.contain("sesame");
  });
});
