/** `RedisCache` as a whole cache, on a real server: the contract, two instances, and values of other programs. */
import { cacheKey } from "@stagecraft/framework/cache";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { obeysCache } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { Redis } from "ioredis";
import { z } from "zod";
import { Gate } from "../../support/gate.js";
import { RedisServer, needRedis } from "../../support/redis-server.js";
import { eventsOf } from "../../support/events-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";

/** What the instance tells that did not compute. */
const ELSEWHERE = "UnavailableError: A value could not be computed. Please try again shortly.";
const HOUR_MS = 3_600_000;
/** A failure is kept for longer than this time. */
const FAILURE_MS = 70;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** 10,000 calls for one key, by turns in each of the instances. Returns the different values and errors. */
async function callEverywhere(caches: readonly RedisCache[], key: string, work: () => Promise<number>) {
  const ask = async (index: number): Promise<unknown> =>
    caches[index % caches.length]?.remember(key, HOUR_MS, work).catch(String);
  return [...new Set(await Promise.all(Array.from({ length: 10_000 }, (_each, index) => ask(index))))];
}

describe("RedisCache as a cache", function () {
  this.timeout(60_000);
  let server: RedisServer;
  let client: Redis;
  let one: RedisCache;
  let two: RedisCache;

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    client = new Redis(server.url);
    [one, two] = [patient(), patient()];
    await Promise.all([one.start(), two.start()]);
  });

  // The 10,000 calls keep a loaded machine busy for longer than a command may take by default.
  const patient = () =>
    new RedisCache({ url: server.url, commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } });

  after(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    client?.disconnect();
    await server?.kill();
  });

  beforeEach(() => client.flushall());

  it("obeys the contract of a cache, with two instances", () => obeysCache(one, { pass: wait, other: two }));

  it("gives every key an expiry", async () => {
    await one.set("key", 1, HOUR_MS, { tags: ["a", "b"] });
    await one.remember("made", HOUR_MS, () => 1, { staleMs: 1000, tags: ["c"] });
    let keys: readonly string[] = [];
    // The key of a failure lives for a moment, in which a busy machine may not find it.
    await until(async () => {
      await rejectionOf(one.remember("failed", 1000, () => Promise.reject(new Error("no"))));
      keys = await client.keys("*");
      return keys.some((key) => key.includes("failure"));
    });
    const lives = await Promise.all(keys.map((key) => client.pttl(key)));

    expect(keys).to.have.length(6);
    // Redis answers -1 for a key without an expiry, and -2 for one whose time is over.
    expect(lives).not.to.include(-1);
  });

  it("computes one value for 10,000 callers in two instances", async () => {
    let made = 0;
    const values = await callEverywhere([one, two], "works", async () => ++made);

    expect(values).to.deep.equal([1]);
    expect(made).to.equal(1);
  });

  it("computes one failure for 10,000 callers in two instances", async () => {
    const made: number[] = [];
    let errors: readonly unknown[] = [];
    const fail = () => Promise.reject(new Error(`failure ${made.push(performance.now())}`));
    // On a busy machine an instance may look when the time of the failure is over. Then it rightly makes another one.
    const wasTooSlow = () => made.slice(1).some((at, index) => at - (made[index] ?? 0) >= FAILURE_MS);

    for (let turn = 0; turn === 0 || wasTooSlow(); turn++) {
      made.length = 0;
      errors = await callEverywhere([one, two], `fails ${turn}`, fail);
    }

    expect(errors).to.have.members(["Error: failure 1", ELSEWHERE]);
    expect(made).to.have.length(1);
  });

  it("continues the computation of an instance that died", async () => {
    const never = new Gate();
    const dying = patient();
    await dying.start();
    void dying.remember("key", HOUR_MS, () => never.passed);
    while ((await client.keys("*claim*")).length === 0) await wait(5);
    await dying.stop();
    // The lease of the dead instance ends.
    await client.pexpire("framework:cache-claim:key", 50);

    expect(await one.remember("key", HOUR_MS, () => "taken over")).to.equal("taken over");
  });

  it("does not wait for a computation that is older than an invalidation", async () => {
    const goOn = new Gate();
    const old = two.remember("key", HOUR_MS, () => goOn.passed.then(() => "old"), { tags: ["tag"] });
    while ((await client.keys("*claim*")).length === 0) await wait(5);
    await one.invalidate("tag");

    const made = await one.remember("key", HOUR_MS, () => "new", { tags: ["tag"] });
    goOn.open();
    await old;

    expect([made, await one.get("key")]).to.deep.equal(["new", "new"]);
  });

  it("treats a tag that the server has dropped as invalidated", async () => {
    await one.set("key", 1, HOUR_MS, { tags: ["tag"] });
    await client.del("framework:cache-tag:tag");

    expect(await one.get("key")).to.equal(undefined);
  });

  for (const [title, write] of [
    ["a value of another kind", () => client.set("framework:cache:key", "text")],
    [
      "a text that is not JSON",
      () => client.hset("framework:cache:key", { v: "{not json", f: "9999999999999", t: "[]" }),
    ],
    ["tags that are not JSON", () => client.hset("framework:cache:key", { v: "1", f: "9999999999999", t: "{secret" })],
    ["an entry without its fields", () => client.hset("framework:cache:key", { v: "1" })],
  ] as const) {
    it(`reports ${title} as an error, not as a miss, and does not repeat it`, async () => {
      await write();
      const errors = [await rejectionOf(one.get("key")), await rejectionOf(one.remember("key", HOUR_MS, () => 1))];

      for (const error of errors) {
        expect(error).to.have.property("code", "E_CACHE_VALUE");
        expect(String(error)).not.to.match(/not json|secret/);
      }
    });
  }

  it("computes a value again if the schema of its key refuses the stored one, with a warning", async () => {
    const key = cacheKey("link", z.object({ url: z.string() }));
    await one.set("link", { address: "the secret" }, HOUR_MS);
    let made: unknown;

    const events = await eventsOf(async () => {
      made = await one.remember(key, HOUR_MS, () => ({ url: "/7" }));
    });

    expect(made).to.deep.equal({ url: "/7" });
    expect(events.filter((line) => line.startsWith("WARN"))).to.have.length(1);
    expect(events.join()).not.to.contain("secret");
  });

  it("computes without the store if the caller allows it, and fails otherwise", async () => {
    const down = new RedisCache({ url: "redis://127.0.0.1:1" });
    const options = { whenUnavailable: "compute" } as const;

    expect(await rejectionOf(down.remember("key", 1000, () => 1))).to.include({
      code: "E_CACHE_UNAVAILABLE",
      status: 503,
    });
    expect(await down.remember("other", 1000, () => 1, options)).to.equal(1);
    // Else it tries to connect for ever, and keeps the process alive.
    await down.stop();
  });
});
