import { expect } from "chai";
import { Redis } from "ioredis";
import { RedisCache, type RedisCacheOptions } from "../../../lib/cache/redis/redis-cache.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { CacheUnavailableError } from "../../../lib/cache/cache.js";
import { eventsOf } from "../../support/events-of.js";
import { errorOf } from "../../support/error-of.js";
import { RedisCluster } from "../../support/redis-cluster.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { SlowFront } from "../../support/slow-front.js";
import { unhandledDuring } from "../../support/unhandled-during.js";
import { until } from "../../support/until.js";

/** A busy machine may need longer than the default for a command. */
const PATIENT_MS = 15_000;

/** A cache, its own server, and a second client that reads the server directly. */
class RedisFixture implements AsyncDisposable {
  private constructor(
    readonly server: RedisServer,
    readonly cache: RedisCache,
    readonly redis: Redis,
  ) {}

  static async start(options: RedisCacheOptions = {}): Promise<RedisFixture> {
    const server = await RedisServer.start();
    const client = { connectTimeout: PATIENT_MS, ...options.client };
    const settings = { url: server.url, namespace: "shop", commandTimeoutMs: PATIENT_MS, ...options, client };
    const cache = new RedisCache(settings);
    await cache.start();
    const redis = new Redis(server.url, { retryStrategy: () => null });
    redis.on("error", () => {});
    return new RedisFixture(server, cache, redis);
  }

  async works(): Promise<boolean> {
    return this.cache.probe().then(
      () => true,
      () => false,
    );
  }

  /** The number of connections that the server has ever had. */
  async connections(): Promise<number> {
    return Number(/total_connections_received:(\d+)/.exec(await this.redis.info("stats"))?.[1]);
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

/**
 * Settles as the work does, or rejects when a timer fires that was set now. Timers of one process fire in the order of their times, also
 * after the process was stopped.
 */
async function inTime<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

describe("RedisCache", function () {
  this.timeout(60_000);
  this.slow(2000);
  before(function () {
    needRedis(this);
  });

  it("keeps JSON below its namespace, and distinguishes a miss from null", async () => {
    await using fixture = await RedisFixture.start();

    await fixture.cache.set("user:7", { name: "Ada", tags: [null] }, 60_000);
    await fixture.cache.set("absent", null, 60_000);

    expect(await fixture.cache.get("user:7")).to.deep.equal({ name: "Ada", tags: [null] });
    expect(await fixture.cache.get("absent")).to.equal(null);
    expect(await fixture.cache.get("nothing")).to.equal(undefined);
    expect((await fixture.redis.keys("*")).toSorted()).to.deep.equal(["shop:cache:absent", "shop:cache:user:7"]);
  });

  it("gives every value an expiry", async () => {
    await using fixture = await RedisFixture.start();

    await fixture.cache.set("short", 1, 90_000);

    expect(await fixture.redis.pttl("shop:cache:short")).to.be.within(80_000, 90_000);
  });

  it("returns whether it deleted a value", async () => {
    await using fixture = await RedisFixture.start();
    await fixture.cache.set("once", 1, 60_000);

    expect([await fixture.cache.delete("once"), await fixture.cache.delete("once")]).to.deep.equal([true, false]);
  });

  it("runs a script by its digest, and sends the source to a server that does not know it", async () => {
    await using fixture = await RedisFixture.start();
    const script = fixture.cache.script("return { KEYS[1], ARGV[1], ARGV[2] }");

    const first = await script.run(["k"], ["a", 2]);
    const second = await script.run(["k"], ["b", 3]);
    await fixture.redis.script("FLUSH");
    const third = await script.run(["k"], ["c", 4]);

    expect([first, second, third]).to.deep.equal([
      ["shop:k", "a", "2"],
      ["shop:k", "b", "3"],
      ["shop:k", "c", "4"],
    ]);
    const calls = await fixture.redis.info("commandstats");
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(calls)?.[1]).to.equal("3");
    expect(/cmdstat_eval:calls=(\d+)/.exec(calls)?.[1]).to.equal("2");
  });

  for (const [what, ask] of [
    ["get", (cache: RedisCache) => cache.get("k")],
    ["set", (cache: RedisCache) => cache.set("k", 1, 1000)],
    ["delete", (cache: RedisCache) => cache.delete("k")],
    ["script", (cache: RedisCache) => cache.script("return 1").run([], [])],
  ] as const) {
    it(`does not report a rejection of ${what} as unhandled before the caller awaits it`, async () => {
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

  it("rejects with the error of a script", async () => {
    await using fixture = await RedisFixture.start();

    const { error } = await failureOf(fixture.cache.script("return redis.call('NOSUCH')").run([], []));

    expect(error).to.be.instanceOf(CacheUnavailableError);
  });

  it("passes its probe as long as the server replies", async () => {
    await using fixture = await RedisFixture.start();

    const before = await fixture.works();
    await fixture.server.kill();
    const after = await fixture.works();

    expect([before, after]).to.deep.equal([true, false]);
  });

  it("starts on a server that does not reply at first", async () => {
    const server = await RedisServer.start();
    using front = await SlowFront.start(server.port, 3);
    const cache = new RedisCache({ url: `redis://127.0.0.1:${front.port}`, commandTimeoutMs: 500 });

    // The first tries are closed, and the third one gets no answer.
    await cache.start();
    await cache.stop();
    await server.kill();

    expect(front.failed).to.equal(3);
  });

  it("does not start without a server in ten seconds, and names the reason", async () => {
    const server = await RedisServer.start();
    await server.kill();
    const cache = new RedisCache({ url: server.url });

    const { error, ms } = await failureOf(cache.start());

    expect(ms).to.be.at.least(9900);

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(String(error)).to.contain(`ECONNREFUSED 127.0.0.1:${server.port}`);
  });

  it("does not start if the server refuses the login, and does not repeat the password", async () => {
    await using fixture = await RedisFixture.start();
    await fixture.redis.config("SET", "requirepass", "sesame");
    const cache = new RedisCache({ url: fixture.server.url.replace("//", "//:wrong-word@") });

    const { error } = await failureOf(cache.start());

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(String(error)).to.contain("WRONGPASS").and.not.to.contain("wrong-word");
  });

  it("does not start on a server of a cluster", async () => {
    await using cluster = await RedisCluster.start();
    for (const url of cluster.urls) {
      const cache = new RedisCache({ url, commandTimeoutMs: PATIENT_MS });

      const { error } = await failureOf(cache.start());

      expect(error).to.have.property("code", "E_REDIS_CLUSTER");
    }
  });

  it("stops without an error, also if it was never started or has lost the server", async () => {
    const idle = new RedisCache();
    await idle.stop();

    const fixture = await RedisFixture.start();
    await fixture.server.kill();
    await fixture[Symbol.asyncDispose]();

    expect((await failureOf(fixture.cache.get("x"))).error).to.be.instanceOf(CacheUnavailableError);
  });

  describe("with bounded waits", () => {
    it("waits half a second for a halted server, and then not at all", async () => {
      await using fixture = await RedisFixture.start({ commandTimeoutMs: 500 });

      fixture.server.halt();
      const failures = await Promise.all([1, 2, 3].map(() => failureOf(inTime(1500, fixture.cache.get("x")))));
      await until(async () => (await failureOf(fixture.cache.get("x"))).ms < 50);
      fixture.server.resume();
      await until(() => fixture.works());

      for (const { error, ms } of failures) {
        expect(error).to.be.instanceOf(CacheUnavailableError);
        expect(ms).to.be.at.least(490);
      }
    });

    it("fails if the server is killed during a command", async () => {
      await using fixture = await RedisFixture.start();
      fixture.server.halt();

      const waiting = failureOf(inTime(PATIENT_MS - 1000, fixture.cache.get("x")));
      await fixture.server.kill();
      const { error } = await waiting;

      expect(error).to.be.instanceOf(CacheUnavailableError);
    });

    it("fails at once after the server is killed, and works again after a restart", async () => {
      await using fixture = await RedisFixture.start();
      await fixture.server.kill();
      await until(async () => String((await failureOf(fixture.cache.get("x"))).error).includes("cannot be reached"));

      const { error } = await failureOf(inTime(100, fixture.cache.get("x")));
      expect(String(error)).to.match(/Redis cannot be reached: (?:the connection was closed|connect ECONNREFUSED)/);
      await fixture.server.restart();
      await until(() => fixture.works());

      expect(error).to.be.instanceOf(CacheUnavailableError);
    });

    it("queues no command without a connection", async () => {
      await using fixture = await RedisFixture.start({ client: { retryStrategy: () => 60_000 } });
      await fixture.server.kill();
      await until(async () => String((await failureOf(fixture.cache.get("x"))).error).includes("cannot be reached"));

      const { error } = await failureOf(inTime(100, fixture.cache.set("x", 1, 60_000)));

      expect(error).to.be.instanceOf(CacheUnavailableError);
    });

    it("does not repeat a command that may have been executed", async () => {
      await using fixture = await RedisFixture.start({ commandTimeoutMs: 500 });
      const count = fixture.cache.script("return redis.call('INCR', KEYS[1])");
      // From then on the server knows the script.
      await until(() =>
        count.run(["other"], []).then(
          () => true,
          () => false,
        ),
      );

      fixture.server.halt();
      const failures = await Promise.all([1, 2, 3].map(() => failureOf(count.run(["n"], []))));
      await until(async () => (await failureOf(fixture.cache.get("x"))).ms < 50);
      fixture.server.resume();
      await until(() => fixture.works());

      expect(failures.every(({ error }) => error instanceof CacheUnavailableError)).to.equal(true);
      // Three on the wire: each may be executed at most once.
      expect(Number(await fixture.redis.get("shop:n"))).to.be.within(0, 3);
    });
  });

  it("connects again if a script of Redis 6.2 has met a read-only server", async () => {
    await using fixture = await RedisFixture.start();
    // The words of that version.
    const script = fixture.cache.script(
      `return redis.error_reply("ERR Error running script (call to f_0123456789): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ")`,
    );
    const before = await fixture.connections();

    const { error } = await failureOf(script.run([], []));
    await until(async () => (await fixture.connections()) > before);
    await until(() => fixture.works());

    expect(error).to.be.instanceOf(CacheUnavailableError);
  });

  it("connects again if the server has become read-only, as after a failover", async () => {
    await using fixture = await RedisFixture.start();
    // The primary does not exist, so that only clients connect to this server.
    await fixture.redis.replicaof("127.0.0.1", "1");
    const before = await fixture.connections();

    const { error } = await failureOf(fixture.cache.set("x", 1, 60_000));
    await until(async () => (await fixture.connections()) > before);
    await fixture.redis.replicaof("NO", "ONE");
    await until(() => fixture.works());
    await fixture.cache.set("x", 2, 60_000);

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(await fixture.cache.get("x")).to.equal(2);
  });

  it("logs once that the connection is lost, and once that it is restored", async () => {
    const events = await eventsOf(async () => {
      await using fixture = await RedisFixture.start();
      await fixture.server.kill();
      await until(async () => !(await fixture.works()));
      await fixture.server.restart();
      await until(() => fixture.works());
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

  it("does not repeat the password when it refuses a URL", () => {
    expect(errorOf(() => new RedisCache({ url: "rdis://:sesame@host" })).message).not.to.contain("sesame");
  });
});
