/** What a cache reports of its work: spans, durations, reads by result, its size; and never a key or a value. */
import { Application, Cache, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { cacheKey, MemoryCache } from "@stagecraft/framework/cache";
import { Metrics } from "@stagecraft/framework/observe";
import { expectNoLeak, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { redactKey } from "../../lib/cache/cache-value.js";
import { Gate } from "../support/gate.js";

const HOUR_MS = 3_600_000;
const CANARY = "canary4711secret";

function appOf(cache: Cache, routes: readonly Route[] = []) {
  const app = Application.create().routes(new Routes(routes)).provide(provide(Cache).useValue(cache));
  return testApp(app.requestId().accessLog());
}

function countOf(app: TestApp, result: string): number | undefined {
  return app.resolve(Metrics).counterValue("framework_cache_reads_total", { subsystem: "cache", result });
}

function endedOf(app: TestApp, operation: string, outcome = "ok"): string | undefined {
  const labels = `operation="${operation}",outcome="${outcome}",subsystem="cache"`;
  const line = new RegExp(`^framework_subsystem_operation_duration_seconds_count\\{${labels}\\} (\\d+)$`, "m");
  return line.exec(app.resolve(Metrics).render())?.[1];
}

describe("the report of a cache", () => {
  it("has a span, a duration and an event for each call, and for the computation of a value", async () => {
    const cache = new MemoryCache();
    await using app = await appOf(cache, [
      Route.get("/", async () => {
        await cache.set("a", 1, HOUR_MS);
        await cache.get("a");
        await cache.remember("b", HOUR_MS, () => 2);
        await cache.delete("a");
        await cache.invalidate("tag");
      }),
    ]);

    await app.get("/");

    const operations = ["set", "get", "remember", "compute", "delete", "invalidate"];
    expect(operations.map((each) => endedOf(app, each))).to.deep.equal(operations.map(() => "1"));
    for (const each of operations) {
      const event = app.logs.lines().find((line) => line.includes(`"operation":"${each}"`));
      expect(event, each).to.include('"target":"framework::cache"');
    }
    expect(app.captured.spans.texts().join("\n"))
      .to.include("framework.cache.get")
      .and.include("framework.cache.compute");
  });

  it("counts reads by their result", async () => {
    const clock = new FakeClock();
    const cache = new MemoryCache({ clock });
    await using app = await appOf(cache);
    const gate = new Gate();
    const slow = [1, 2, 3].map(() =>
      cache.remember("slow", 1000, () => gate.passed.then(() => 1), { staleMs: HOUR_MS }),
    );
    gate.open();
    await Promise.all(slow);

    await cache.get("slow");
    await cache.get("absent");
    clock.advance(1001);
    await cache.remember("slow", 1000, () => null, { staleMs: HOUR_MS });

    const results = ["hit", "stale", "miss", "shared"];
    expect(results.map((each) => countOf(app, each))).to.deep.equal([1, 1, 2, 2]);
  });

  it("counts a hit in memory, and creates no span for it", async () => {
    const cache = new MemoryCache();
    await using app = await appOf(cache);
    await cache.set("key", 1, HOUR_MS);

    for (let turn = 0; turn < 5; turn++) await cache.remember("key", HOUR_MS, () => expect.fail("made again"));

    expect([countOf(app, "hit"), endedOf(app, "remember")]).to.deep.equal([5, undefined]);
  });

  it("distinguishes a failed computation by its outcome", async () => {
    const cache = new MemoryCache();
    await using app = await appOf(cache);

    await cache.remember("key", HOUR_MS, () => Promise.reject(new Error("no"))).catch(() => {});

    expect([endedOf(app, "compute", "error"), endedOf(app, "remember", "error")]).to.deep.equal(["1", "1"]);
  });

  it("shows the size of a cache in memory at all times", async () => {
    const cache = new MemoryCache({ maxEntries: 2 });
    await using app = await appOf(cache);
    const shown = () =>
      ["entries", "size_bytes"].map((name) =>
        Number(
          new RegExp(`^framework_cache_${name}\\{subsystem="cache"\\} (.*)$`, "m").exec(
            app.resolve(Metrics).render(),
          )?.[1],
        ),
      );

    const sizes = [shown()];
    for (const key of ["a", "b", "c"]) await cache.set(key, "x".repeat(100), HOUR_MS, { tags: ["tag"] });
    sizes.push(shown());
    await cache.delete("c");
    sizes.push(shown());
    await cache.invalidate("tag");
    sizes.push(shown());

    expect(sizes).to.deep.equal([
      [0, 0],
      [2, 724],
      [1, 362],
      [0, 0],
    ]);
  });

  it("works without an application", async () => {
    const cache = new MemoryCache();

    expect(await cache.remember("key", HOUR_MS, () => 1)).to.equal(1);
  });
});

describe("a key in a message", () => {
  for (const [key, shown] of [
    ["user:7:orders", "user:…"],
    ["rates", "… (5 characters)"],
    [":7", "… (2 characters)"],
    [`${"x".repeat(65)}:7`, "… (67 characters)"],
  ] as const) {
    it(`is ${shown} for ${key.slice(0, 20)}`, () => {
      expect(redactKey(key)).to.equal(shown);
    });
  }
});

describe("the keys and values of a cache", () => {
  it("are shown nowhere, also if calls fail", async () => {
    const cache = new MemoryCache();
    const typed = cacheKey("typed", z.number());
    await using app = await appOf(cache, [
      Route.post("/", async (ctx: Context) => {
        const secret = await ctx.text();
        const key = `note:${CANARY}`;
        const calls: readonly (() => Promise<unknown>)[] = [
          () => cache.set(key, secret, HOUR_MS, { tags: [CANARY] }),
          () => cache.get(key),
          () => cache.remember(CANARY, HOUR_MS, () => secret, { staleMs: 1 }),
          () => cache.remember(CANARY, HOUR_MS, () => CANARY, { staleMs: 1 }),
          () => cache.set(typed.of(CANARY).name, CANARY, HOUR_MS),
          () => cache.get(typed.of(CANARY)),
          () => cache.set(key, () => CANARY, HOUR_MS),
          () => cache.set(CANARY, 1n, HOUR_MS),
          () => cache.invalidate(CANARY),
          () => cache.delete(key),
        ];
        const ended = await Promise.allSettled(calls.map((call) => call()));
        const failed = ended.find((each) => each.status === "rejected");
        throw failed?.reason as Error;
      }),
    ]);

    await app.post("/", { body: CANARY });
    await expectNoLeak(app, CANARY);

    expect(endedOf(app, "set", "error")).not.to.equal(undefined);
    expect(app.logs.lines().join()).to.include("typed:…");
  });
});
