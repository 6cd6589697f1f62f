import { expect } from "chai";
import {
  Cache,
  CacheUnavailableError,
  expectTtl,
  MAX_CACHE_VALUE_LENGTH,
  readCacheValue,
  writeCacheValue,
  type CacheScript,
} from "../../lib/lifecycle/cache.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { unhandledDuring } from "../support/unhandled-during.js";

/** Never expires a value. When `isBroken`, `get` and `set` fail. */
class MapCache extends Cache {
  readonly namespace = "test";
  readonly stored = new Map<string, unknown>();
  isBroken = false;

  start(): void {}
  stop(): void {}

  override async get(key: string): Promise<unknown> {
    this.fail();
    return this.stored.get(key);
  }

  override async set(key: string, value: unknown, _ttlMs: number): Promise<void> {
    this.fail();
    this.stored.set(key, value);
  }

  override async delete(key: string): Promise<boolean> {
    return this.stored.delete(key);
  }

  override script(_source: string): CacheScript {
    throw new Error("no scripts here");
  }

  private fail(): void {
    if (this.isBroken) throw new CacheUnavailableError(new Error("broken"));
  }
}

describe("Cache.remember", () => {
  it("makes a missing value and stores it", async () => {
    const cache = new MapCache();
    let made = 0;

    const values = [
      await cache.remember("rates", 1000, () => ++made),
      await cache.remember("rates", 1000, async () => ++made),
    ];

    expect(values).to.deep.equal([1, 1]);
    expect(cache.stored.get("rates")).to.equal(1);
  });

  it("returns a stored null", async () => {
    const cache = new MapCache();
    cache.stored.set("absent user", null);

    expect(await cache.remember("absent user", 1000, () => "user")).to.equal(null);
  });

  it("makes one value for simultaneous calls, and a new one after a delete", async () => {
    const cache = new MapCache();
    let made = 0;
    const ask = (): Promise<number> => cache.remember("rates", 1000, async () => ++made);

    const together = await Promise.all([ask(), ask(), ask()]);
    await cache.delete("rates");
    const later = await ask();

    expect(together).to.deep.equal([1, 1, 1]);
    expect(later).to.equal(2);
  });

  it("does not treat an error of the store as a miss", async () => {
    const cache = new MapCache();
    cache.isBroken = true;
    let made = 0;

    const error = await rejectionOf(cache.remember("rates", 1000, () => ++made));

    expect(error).to.be.instanceOf(CacheUnavailableError).with.property("status", 503);
    expect(made).to.equal(0);
  });

  it("rejects for a caller that awaits the value later, without an unhandled rejection", async () => {
    const cache = new MapCache();
    cache.isBroken = true;
    let error: unknown;

    const unhandled = await unhandledDuring(async () => {
      const rates = cache.remember("rates", 1000, () => 1);
      await new Promise((resolve) => setImmediate(resolve));
      error = await rejectionOf(rates);
    });

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(unhandled).to.deep.equal([]);
  });

  it("rejects with the error of make, and stores nothing", async () => {
    const cache = new MapCache();
    const failure = new Error("no rates today");

    const error = await rejectionOf(cache.remember("rates", 1000, () => Promise.reject(failure)));

    expect(error).to.equal(failure);
    expect(await cache.remember("rates", 1000, () => "later")).to.equal("later");
  });
});

describe("a cached value", () => {
  for (const value of [null, false, 0, "", "text", [], { a: [1, { b: null }] }]) {
    it(`is read as it was written: ${JSON.stringify(value)}`, () => {
      expect(readCacheValue("k", writeCacheValue("k", value))).to.deep.equal(value);
    });
  }

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const unwritable: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a cycle", cyclic],
    ["an object whose toJSON throws", { toJSON: () => expect.fail("toJSON") }],
    ["more than 64 MiB", "x".repeat(MAX_CACHE_VALUE_LENGTH)],
  ];
  for (const [title, value] of unwritable) {
    it(`is not ${title}`, () => {
      const error = errorOf(() => writeCacheValue("the key", value));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
      expect(error.message).to.contain('"the key"');
    });
  }

  it("that is not JSON in the store is an error, not a miss", () => {
    const error = errorOf(() => readCacheValue("the key", "{not json"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
    expect(error.message).to.contain('"the key"').and.not.to.contain("{not json");
  });

  for (const ttl of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`cannot have a ttl of ${ttl} ms`, () => {
      const error = errorOf(() => expectTtl(ttl));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_TTL");
      expect(error.message).to.contain(String(ttl));
    });
  }
});
