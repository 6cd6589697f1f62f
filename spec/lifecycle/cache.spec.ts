import { expect } from "chai";
import { CacheUnavailableError, Cache, type CacheScript } from "../../lib/lifecycle/cache.js";
import { rejectionOf } from "../support/rejection-of.js";
import { unhandledDuring } from "../support/unhandled-during.js";

/** Keeps everything for ever; `broken` fails every call. */
class MapCache extends Cache {
  readonly namespace = "test";
  readonly kept = new Map<string, unknown>();
  broken = false;

  start(): void {}
  stop(): void {}

  override async get(key: string): Promise<unknown> {
    this.fail();
    return this.kept.get(key);
  }

  override async set(key: string, value: unknown, _ttlMs: number): Promise<void> {
    this.fail();
    this.kept.set(key, value);
  }

  override async delete(key: string): Promise<boolean> {
    return this.kept.delete(key);
  }

  override script(_source: string): CacheScript {
    throw new Error("no scripts here");
  }

  private fail(): void {
    if (this.broken) throw new CacheUnavailableError(new Error("broken"));
  }
}

describe("Cache.remember", () => {
  it("makes what is not there, and keeps it", async () => {
    const cache = new MapCache();
    let made = 0;

    const values = [
      await cache.remember("rates", 1000, () => ++made),
      await cache.remember("rates", 1000, async () => ++made),
    ];

    expect(values).to.deep.equal([1, 1]);
    expect(cache.kept.get("rates")).to.equal(1);
  });

  it("takes null for a value", async () => {
    const cache = new MapCache();
    cache.kept.set("nobody", null);

    expect(await cache.remember("nobody", 1000, () => "somebody")).to.equal(null);
  });

  it("makes one value for all who ask at once, and a new one when it is gone", async () => {
    const cache = new MapCache();
    let made = 0;
    const ask = (): Promise<number> => cache.remember("rates", 1000, async () => ++made);

    const crowd = await Promise.all([ask(), ask(), ask()]);
    await cache.delete("rates");
    const later = await ask();

    expect(crowd).to.deep.equal([1, 1, 1]);
    expect(later).to.equal(2);
  });

  it("does not take an error of the store for a miss", async () => {
    const cache = new MapCache();
    cache.broken = true;
    let made = 0;

    const error = await rejectionOf(cache.remember("rates", 1000, () => ++made));

    expect(error).to.be.instanceOf(CacheUnavailableError).with.property("status", 503);
    expect(made).to.equal(0);
  });

  it("leaves a failure to the caller that awaits the value later", async () => {
    const cache = new MapCache();
    cache.broken = true;
    let error: unknown;

    const unhandled = await unhandledDuring(async () => {
      const rates = cache.remember("rates", 1000, () => 1);
      await new Promise((resolve) => setImmediate(resolve));
      error = await rejectionOf(rates);
    });

    expect(error).to.be.instanceOf(CacheUnavailableError);
    expect(unhandled).to.deep.equal([]);
  });

  it("hands on what the maker throws, and keeps nothing", async () => {
    const cache = new MapCache();
    const failure = new Error("no rates today");

    const error = await rejectionOf(cache.remember("rates", 1000, () => Promise.reject(failure)));

    expect(error).to.equal(failure);
    expect(await cache.remember("rates", 1000, () => "later")).to.equal("later");
  });
});
