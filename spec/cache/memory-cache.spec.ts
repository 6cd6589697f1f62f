import { MemoryCache } from "@stagecraft/framework/cache";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysCache } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { errorOf } from "../support/error-of.js";
import { Gate } from "../support/gate.js";
import { rejectionOf } from "../support/rejection-of.js";

const HOUR_MS = 3_600_000;

const longTags = (of: number) => Array.from({ length: 8 }, (_, at) => `${of}:${at}`.padEnd(1000, "x"));

describe("MemoryCache", function () {
  this.timeout(60_000);
  it("obeys the contract of a cache", () => {
    const clock = new FakeClock();
    return obeysCache(new MemoryCache({ clock }), { pass: (ms) => clock.advance(ms) });
  });

  it("drops the value that was not used for the longest time when it holds too many", async () => {
    const cache = new MemoryCache({ maxEntries: 2 });
    await cache.set("a", 1, HOUR_MS);
    await cache.set("b", 2, HOUR_MS);
    await cache.get("a");
    await cache.set("c", 3, HOUR_MS);

    expect(await Promise.all(["a", "b", "c"].map((key) => cache.get(key)))).to.deep.equal([1, undefined, 3]);
  });

  it("stays below its bytes, and keeps no value that is larger than all of them", async () => {
    const cache = new MemoryCache({ maxBytes: 10_000 });
    await cache.set("small", 1, HOUR_MS);
    await cache.set("large", "x".repeat(10_000), HOUR_MS);
    expect(await cache.get("large")).to.equal(undefined);
    expect(await cache.get("small")).to.equal(1);

    for (let each = 0; each < 100; each++) {
      await cache.set(`key ${each}`, "x".repeat(1000), HOUR_MS, { tags: [`tag ${each}`] });
      expect(cache.size.bytes).to.be.at.most(10_000);
    }
    expect(await cache.get("key 99")).to.equal("x".repeat(1000));
  });

  it("counts the bytes of tags, which can be longer than the value", async () => {
    const cache = new MemoryCache({ maxBytes: 10_000 });
    for (let each = 0; each < 10; each++) await cache.set(`key ${each}`, 1, HOUR_MS, { tags: longTags(each) });

    expect(cache.size).to.include({ entries: 1 });
    expect(cache.size.bytes).to.be.within(8000, 10_000);
    expect(await cache.get("key 9")).to.equal(1);
  });

  it("counts no byte twice when values are written, replaced, deleted and invalidated", async () => {
    const cache = new MemoryCache();
    for (const value of ["a", "bb", "ccc"]) await cache.set("key", value, HOUR_MS, { tags: ["tag"] });
    await cache.set("other", 1, HOUR_MS, { tags: ["tag", "second"] });
    await cache.delete("other");
    await cache.invalidate("tag");

    expect(cache.size).to.deep.equal({ entries: 0, bytes: 0 });
  });

  it("returns a hit without calling its driver again", async () => {
    const cache = new MemoryCache();
    await cache.set("key", "value", HOUR_MS);

    expect(await cache.remember("key", HOUR_MS, () => expect.fail("made again"))).to.equal("value");
  });

  it("shares one computation among 10,000 callers, and one failure", async () => {
    const cache = new MemoryCache();
    let made = 0;
    const ask = (key: string, work: () => Promise<number>): Promise<unknown> =>
      Promise.all(Array.from({ length: 10_000 }, () => cache.remember(key, HOUR_MS, work).catch(String)));

    await ask("works", async () => ++made);
    await ask("fails", () => Promise.reject(new Error(`failure ${++made}`)));

    expect(made).to.equal(2);
  });

  it("has a fresh value before its time to live, a stale one from then on, and none at the end of both", async () => {
    const clock = new FakeClock();
    const cache = new MemoryCache({ clock });
    const never = new Gate<string>();
    const ask = (make: () => unknown): Promise<unknown> => cache.remember("key", 1000, make, { staleMs: 500 });
    await ask(() => "old");
    clock.advance(999);
    expect(await ask(() => expect.fail("made again"))).to.equal("old");

    clock.advance(1);
    expect(await ask(() => never.passed)).to.equal("old");
    clock.advance(499);
    expect(await ask(() => expect.fail("made twice"))).to.equal("old");
    clock.advance(1);

    expect(await cache.get("key")).to.equal(undefined);
    never.open("new");
  });

  it("calls a failing source once in a moment, also while it has a stale value", async () => {
    const clock = new FakeClock();
    const cache = new MemoryCache({ clock });
    let asked = 0;
    const fail = (): never => {
      asked += 1;
      throw new Error("no value today");
    };
    const ask = (make: () => unknown): Promise<unknown> => cache.remember("key", 1000, make, { staleMs: HOUR_MS });
    await ask(() => "old");
    clock.advance(1000);

    for (let turn = 0; turn < 100; turn++) {
      expect(await ask(fail)).to.equal("old");
      await clock.advanceAsync(0);
    }
    const inOneMoment = asked;
    await clock.advanceAsync(200);
    await ask(fail);

    expect([inOneMoment, asked]).to.deep.equal([1, 2]);
  });

  it("lets 10,000 callers wait for 30 seconds for a computation that never ends, and for a new one after a deletion", async () => {
    const clock = new FakeClock();
    const cache = new MemoryCache({ clock });
    const never = new Gate();
    const ask = (): Promise<unknown> => cache.remember("key", HOUR_MS, () => never.passed);
    void ask();
    const codes = Promise.all(
      Array.from({ length: 10_000 }, () => ask().catch((error: unknown) => (error as { readonly code: string }).code)),
    );

    await clock.advanceAsync(30_000);

    expect([...new Set(await codes)]).to.deep.equal(["E_CACHE_COMPUTATION"]);
    expect(await rejectionOf(ask())).to.include({ code: "E_CACHE_COMPUTATION", status: 503 });
    await cache.delete("key");
    expect(await cache.remember("key", HOUR_MS, () => "new")).to.equal("new");
  });

  for (const [title, make, code] of [
    ["no entries", () => new MemoryCache({ maxEntries: 0 }), "E_CACHE_LIMIT"],
    ["half a byte", () => new MemoryCache({ maxBytes: 0.5 }), "E_CACHE_LIMIT"],
    ["a script", () => new MemoryCache().script(), "E_CACHE_SCRIPT"],
  ] as const) {
    it(`refuses ${title}`, () => {
      expect(errorOf(make)).to.have.property("code", code);
    });
  }
});
