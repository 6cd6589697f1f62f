/** A value that is in memory already: `remember` and `get` of a cache with its counters, beside a `Map`. */

import { MemoryCache } from "../../../../lib/cache/memory-cache.js";
import { Metrics } from "../../../../lib/observe/metrics/metrics.js";
import { SystemClock } from "../../../../lib/runtime/clock.js";
import type { Comparison } from "./comparison.js";

const HOUR_MS = 3_600_000;
const KEYS = Array.from({ length: 1000 }, (_each, index) => `user:${index}`);

export function cacheComparisons(): readonly Comparison[] {
  const cache = filledCache();
  const map = new Map(KEYS.map((key) => [key, { key }]));
  const keyOf = (turn: number): string => KEYS[turn % KEYS.length] ?? "";
  return [
    {
      what: "a hit in memory, one of 1000 keys",
      contenders: [
        { name: "Map.get in a promise", run: awaiting(async (turn) => map.get(keyOf(turn))) },
        { name: "stagecraft remember", run: awaiting((turn) => cache.remember(keyOf(turn), HOUR_MS, make)) },
        { name: "stagecraft get", run: awaiting((turn) => cache.get(keyOf(turn))) },
      ],
    },
  ];
}

/** In an application, so that each hit counts. */
function filledCache(): MemoryCache {
  const cache = new MemoryCache();
  cache.prepare({ name: "cache", clock: new SystemClock(), metrics: new Metrics() });
  for (const key of KEYS) void cache.set(key, { key }, HOUR_MS);
  return cache;
}

function make(): never {
  throw new Error("a hit was a miss");
}

function awaiting(read: (turn: number) => Promise<unknown>): (times: number) => Promise<void> {
  return async (times) => {
    for (let turn = 0; turn < times; turn += 1) await read(turn);
  };
}
