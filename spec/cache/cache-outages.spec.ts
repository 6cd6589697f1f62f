/** `remember` on a Redis that dies, hangs, returns or is emptied while a value is computed. */
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { expect } from "chai";
import { Redis } from "ioredis";
import { needRedis, RedisServer } from "../support/redis-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";

const HOUR_MS = 3_600_000;
const BYPASS = { whenUnavailable: "compute" } as const;
const MADE = { list: [1], absent: undefined };
const AS_JSON = { list: [1] };

/** A busy machine may need longer than the default for a command. */
const PATIENT_MS = 15_000;

describe("a cache whose server fails during a computation", function () {
  this.timeout(60_000);
  let server: RedisServer;
  let cache: RedisCache;
  let made = 0;

  const madeAfter = (change: () => unknown) => async (): Promise<unknown> => {
    made += 1;
    await change();
    return MADE;
  };
  const works = (): Promise<boolean> =>
    cache.probe().then(
      () => true,
      () => false,
    );

  before(function () {
    needRedis(this);
  });

  beforeEach(async () => {
    made = 0;
    server = await RedisServer.start();
    cache = await started(PATIENT_MS);
  });

  afterEach(async () => {
    await server.kill();
    await cache.stop();
  });

  const started = async (commandTimeoutMs: number): Promise<RedisCache> => {
    const client = { connectTimeout: PATIENT_MS };
    const connected = new RedisCache({ url: server.url, commandTimeoutMs, client });
    await connected.start();
    return connected;
  };

  for (const [what, change, commandTimeoutMs] of [
    ["dies", () => server.kill(), PATIENT_MS],
    ["hangs", () => server.halt(), 3000],
  ] as const) {
    it(`gives the one value to a caller that may bypass it, and an error to another one, if it ${what}`, async () => {
      await cache.stop();
      cache = await started(commandTimeoutMs);
      const value = await cache.remember("bypassed", HOUR_MS, madeAfter(change), BYPASS);
      const error = await rejectionOf(
        cache.remember(
          "strict",
          HOUR_MS,
          madeAfter(() => {}),
        ),
      );

      expect(value).to.deep.equal(AS_JSON);
      expect(Object.isFrozen(value)).to.equal(true);
      expect(error).to.include({ code: "E_CACHE_UNAVAILABLE", status: 503 });
      expect(made).to.equal(1);
      // Without the store each call computes, and gets the same kind of value.
      expect(
        await cache.remember(
          "bypassed",
          HOUR_MS,
          madeAfter(() => {}),
          BYPASS,
        ),
      ).to.deep.equal(AS_JSON);
    });
  }

  it("does not keep the value if it is emptied, and the next caller computes a new one", async () => {
    const client = new Redis(server.url);
    const value = await cache.remember(
      "key",
      HOUR_MS,
      madeAfter(() => client.flushall()),
      { tags: ["tag"] },
    );

    expect([value, await cache.get("key")]).to.deep.equal([AS_JSON, undefined]);
    expect(
      await cache.remember(
        "key",
        HOUR_MS,
        madeAfter(() => {}),
      ),
    ).to.deep.equal(AS_JSON);
    expect([made, await cache.get("key")]).to.deep.equal([2, AS_JSON]);
    client.disconnect();
  });

  it("serves all callers again after it has restarted without its data", async () => {
    await cache.set("key", "old", HOUR_MS, { tags: ["tag"] });
    await server.kill();
    expect(await rejectionOf(cache.get("key"))).to.have.property("code", "E_CACHE_UNAVAILABLE");

    await server.restart();
    await until(works);

    expect(await cache.get("key")).to.equal(undefined);
    expect(await cache.remember("key", HOUR_MS, () => "new", { tags: ["tag"] })).to.equal("new");
    await cache.invalidate("tag");
    expect(await cache.get("key")).to.equal(undefined);
  });

  it("does not confuse an error of the computation with one of the store", async () => {
    const down = new RedisCache({ url: "redis://127.0.0.1:1" });
    const nested = (): Promise<unknown> => madeAfter(() => down.get("x"))();

    const error = await rejectionOf(cache.remember("key", HOUR_MS, nested, BYPASS));

    expect(error).to.have.property("code", "E_CACHE_UNAVAILABLE");
    expect(made).to.equal(1);
    await down.stop();
  });
});
