import { expect } from "chai";
import { Redis } from "ioredis";
import { RateLimit } from "../../../lib/stages/rate-limit/rate-limit.js";
import { RedisCache } from "../../../lib/cache/redis/redis-cache.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { eventsOf } from "../../support/events-of.js";
import { errorOf } from "../../support/error-of.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { Stack, type ReceivedResponse } from "../../support/stack.js";
import { until } from "../../support/until.js";

const HOUR_MS = 3_600_000;

async function cacheOn({ url }: RedisServer): Promise<RedisCache> {
  const cache = new RedisCache({ url, namespace: "shop" });
  await cache.start();
  return cache;
}

/** Runs `work` with a server, a started cache on it, and a client to inspect the store. */
async function withRedis(work: (server: RedisServer, cache: RedisCache, redis: Redis) => Promise<void>): Promise<void> {
  await using server = await RedisServer.start();
  const cache = await cacheOn(server);
  const redis = new Redis(server.url, { retryStrategy: () => null });
  redis.on("error", () => {});
  try {
    await work(server, cache, redis);
  } finally {
    await cache.stop();
    redis.disconnect();
  }
}

/** Within a minute of real time the number of seconds in a response is a little smaller. */
function expectSeconds(seconds: unknown, whole: number): void {
  expect(Number(seconds)).to.be.within(whole - 60, whole);
}

function limitsOf({ status, headers }: ReceivedResponse): unknown[] {
  return [status, ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers[name])];
}

/** Sends `count` requests, 16 at a time, and counts the admitted ones. */
async function admittedOf(stacks: readonly Stack[], count: number): Promise<number> {
  let left = count;
  let admitted = 0;
  const client = async (): Promise<void> => {
    while (left > 0) {
      const stack = stacks[left-- % stacks.length];
      if ((await stack?.ask())?.status === 200) admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return admitted;
}

describe("RateLimit.redis", function () {
  this.timeout(60_000);
  this.slow(2000);
  before(function () {
    needRedis(this);
  });

  it("responds like a limit in memory", () =>
    withRedis(async (_server, cache) => {
      await using stack = await Stack.of([RateLimit.perHour(2).redis(cache)], () => "fine");

      const answers = [await stack.ask(), await stack.ask(), await stack.ask()];

      expect(answers.map((each) => limitsOf(each).slice(0, 3))).to.deep.equal([
        [200, "2", "1"],
        [200, "2", "0"],
        [429, "2", "0"],
      ]);
      for (const [at, whole] of [1800, 3600, 3600].entries())
        expectSeconds(answers[at]?.headers["ratelimit-reset"], whole);
      expectSeconds(answers[2]?.headers["retry-after"], 1800);
      expect(answers[2]?.headers["content-type"]).to.equal("application/problem+json");
    }));

  it("stores a hash of the tokens and the store's time, which expires after twice the time of a full refill", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(4).redis(cache)]);

      await stack.ask();

      expect(await redis.keys("*")).to.deep.equal(["shop:ratelimit:127.0.0.1"]);
      const { t, u, ...others } = await redis.hgetall("shop:ratelimit:127.0.0.1");
      const [seconds] = await redis.time();
      expect(t).to.equal("3");
      expect(Number(u)).to.be.within(Number(seconds) * 1000 - 60_000, Number(seconds) * 1000 + 1000);
      expect(others).to.deep.equal({});
      expect(await redis.pttl("shop:ratelimit:127.0.0.1")).to.be.within(2 * HOUR_MS - 60_000, 2 * HOUR_MS);
    }));

  it("stores a bucket for at least one second", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perSecond(1000).burst(1).redis(cache)]);

      // The time runs between the two commands, on a busy machine more than the tenth of a second.
      await until(async () => {
        await stack.ask();
        const left = await redis.pttl("shop:ratelimit:127.0.0.1");
        expect(left).to.be.most(1000);
        return left >= 900;
      });
    }));

  it("counts the tokens of large buckets exactly", () =>
    withRedis(async (_server, cache, redis) => {
      const capacity = 123_456_789;
      await using stack = await Stack.of([RateLimit.perHour(1).burst(capacity).redis(cache)]);

      const left: number[] = [];
      for (let asked = 0; asked < 3; asked++) {
        await stack.ask();
        left.push(Math.floor(Number(await redis.hget("shop:ratelimit:127.0.0.1", "t"))));
      }

      expect(left).to.deep.equal([capacity - 1, capacity - 2, capacity - 3]);
    }));

  it("stores fractions of a token", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(10).redis(cache)]);
      const [key, tokens] = ["shop:ratelimit:127.0.0.1", 4.123456789012345];
      // The time lies in the future, so no tokens are added.
      await redis.hset(key, "t", tokens, "u", Date.now() + HOUR_MS);

      await stack.ask();

      expect(Number(await redis.hget(key, "t"))).to.equal(tokens - 1);
    }));

  const sums: readonly (readonly [string, number, number, string])[] = [
    ["2 ** -53 below one token is one", 1 - 2 ** -53, 204, "0"],
    ["2 ** -51 below three tokens is three", 3 - 2 ** -51, 204, "2"],
    ["0.001 below one token is none", 0.999, 429, "0"],
    ["0.001 below three tokens is two", 2.999, 204, "1"],
  ];
  for (const [title, tokens, status, remaining] of sums) {
    it(`corrects the rounding of a sum of fractions: ${title}`, () =>
      withRedis(async (_server, cache, redis) => {
        await using stack = await Stack.of([RateLimit.perHour(10).redis(cache)]);
        // The time lies in the future, so no tokens are added.
        await redis.hset("shop:ratelimit:127.0.0.1", "t", tokens, "u", Date.now() + HOUR_MS);

        const answer = await stack.ask();

        expect([answer.status, answer.headers["ratelimit-remaining"]]).to.deep.equal([status, remaining]);
      }));
  }

  it("takes one round trip per request", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(100).redis(cache)]);
      await stack.ask();
      await redis.config("RESETSTAT");

      for (let count = 0; count < 10; count++) await stack.ask();

      const stats = await redis.info("commandstats");
      const calls = [...stats.matchAll(/cmdstat_(?!config|info)([a-z|]+):calls=(\d+)/g)].map(
        ([, name, n]) => `${name} ${n}`,
      );
      // The server also counts the commands that a script calls.
      expect(calls.toSorted()).to.deep.equal(["evalsha 10", "hmget 10", "hset 10", "pexpire 10", "time 10"]);
    }));

  it("refills by the store's clock", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(2).redis(cache)]);
      await stack.ask();
      await stack.ask();

      const u = Number(await redis.hget("shop:ratelimit:127.0.0.1", "u"));
      await redis.hset("shop:ratelimit:127.0.0.1", "u", u - HOUR_MS / 4);
      const halfFull = await stack.ask();
      await redis.hset("shop:ratelimit:127.0.0.1", "u", u - HOUR_MS / 2);
      const again = await stack.ask();

      expect([halfFull.status, again.status]).to.deep.equal([429, 204]);
      expectSeconds(halfFull.headers["retry-after"], 900);
    }));

  it("continues when the store's clock is set back", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(2).redis(cache)]);
      const ahead = Date.now() + 10 * HOUR_MS;
      await redis.hset("shop:ratelimit:127.0.0.1", "t", 0, "u", ahead);

      const refused = await stack.ask();

      expect(refused.status).to.equal(429);
      expect(refused.headers["retry-after"]).to.equal("1800");
      expect(Number(await redis.hget("shop:ratelimit:127.0.0.1", "u"))).to.be.below(ahead - 9 * HOUR_MS);
    }));

  it("admits exactly the quota over several instances", () =>
    withRedis(async (server, cache) => {
      const other = await cacheOn(server);
      await using one = await Stack.of([RateLimit.perHour(50).redis(cache)], () => "fine");
      await using two = await Stack.of([RateLimit.perHour(50).redis(other)], () => "fine");

      const admitted = (await admittedOf([one, two, two], 100)) + (await admittedOf([one], 30));
      await other.stop();

      expect(admitted).to.equal(50);
    }));

  it("separates two limits on one cache by name", () =>
    withRedis(async (_server, cache, redis) => {
      const layers = [RateLimit.perHour(5).redis(cache), RateLimit.perHour(1).redis(cache, "login")];
      await using stack = await Stack.of(layers, () => "fine");

      const answers = [await stack.ask(), await stack.ask()];

      expect(answers.map(({ status }) => status)).to.deep.equal([200, 429]);
      expect((await redis.keys("*")).toSorted()).to.deep.equal([
        "shop:ratelimit.login:127.0.0.1",
        "shop:ratelimit:127.0.0.1",
      ]);
    }));

  it("refuses a name that does not fit into a key", () => {
    const error = errorOf(() => RateLimit.perHour(5).redis(new RedisCache(), "a:b"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_NAME");
    expect(error.message).to.contain('"a:b"');
  });

  it("does not call the store with a limit of 0", () =>
    withRedis(async (_server, cache, redis) => {
      await using stack = await Stack.of([RateLimit.perHour(0).redis(cache)]);

      expect((await stack.ask()).status).to.equal(429);
      expect(await redis.keys("*")).to.deep.equal([]);
    }));

  describe("while the store does not respond", () => {
    it("responds with 503 by default, without RateLimit headers", () =>
      withRedis(async (server, cache) => {
        let calls = 0;
        await using stack = await Stack.of([RateLimit.perHour(5).redis(cache)], () => ++calls);
        await server.kill();

        const refused = await stack.ask();

        expect(limitsOf(refused)).to.deep.equal([503, undefined, undefined, undefined]);
        expect(JSON.parse(refused.text)).to.deep.equal({
          type: "urn:framework:problem:unavailable",
          title: "Service unavailable",
          status: 503,
          detail: "The rate limiter is unavailable. Please try again shortly.",
        });
        expect(calls).to.equal(0);
      }));

    it("admits requests with onBackendError('allow')", () =>
      withRedis(async (server, cache) => {
        await using stack = await Stack.of([RateLimit.perHour(5).redis(cache).onBackendError("allow")], () => "fine");
        await server.kill();

        const served = await stack.ask();

        expect(limitsOf(served)).to.deep.equal([200, undefined, undefined, undefined]);
        expect(served.text).to.equal("fine");
      }));

    it("logs one warning in ten seconds", async () => {
      const clock = new FakeClock();
      const events = await eventsOf(() =>
        withRedis(async (server, cache) => {
          await using stack = await Stack.of([RateLimit.perHour(5).redis(cache)], () => "fine", clock);
          await server.kill();
          for (const wait of [0, 5000, 4999, 1, 9999, 1]) {
            clock.advance(wait);
            await stack.ask();
          }
        }),
      );

      const warnings = events.filter((line) => line.startsWith("WARN framework::http::rate_limit"));
      expect(warnings).to.have.length(3);
      expect(warnings[0]).to.contain("rate limiter unavailable").and.to.contain("decision=refuse");
    });

    it("waits half a second for a stopped store, and serves again when the store continues", () =>
      withRedis(async (server, cache) => {
        await using stack = await Stack.of([RateLimit.perHour(1000).redis(cache)], () => "fine");
        await stack.ask();
        server.halt();

        const start = performance.now();
        const crowd = await Promise.all(Array.from({ length: 20 }, () => stack.ask()));
        const took = performance.now() - start;
        server.resume();
        await until(async () => (await stack.ask()).status === 200);

        expect(new Set(crowd.map(({ status }) => status))).to.deep.equal(new Set([503]));
        // Plus the delay of a busy machine. Without the limit they would wait until the store continues.
        expect(took).to.be.within(450, 10_000);
      }));

    it("responds to every request while the server is killed and restarted under load", () =>
      withRedis(async (server, cache) => {
        await using stack = await Stack.of([RateLimit.perHour(100_000).redis(cache)], () => "fine");
        const seen = new Set<number>();
        const over = new AbortController();
        const client = async (): Promise<void> => {
          while (!over.signal.aborted) seen.add((await stack.ask()).status);
        };

        const load = Promise.all(Array.from({ length: 8 }, client));
        await until(() => seen.has(200));
        await server.kill();
        await until(() => seen.has(503));
        seen.clear();
        await server.restart();
        await until(() => seen.has(200));
        over.abort();
        await load;

        expect([...seen].every((status) => status === 200 || status === 503)).to.equal(true);
      }));
  });
});
