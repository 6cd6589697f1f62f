/** The cache: a hit in memory in nanoseconds, and 10,000 callers of one missing key, in one process and over two instances on Redis. */

import { Cache } from "../../../lib/cache/cache.js";
import { MemoryCache } from "../../../lib/cache/memory-cache.js";
import { RedisCache } from "../../../lib/cache/redis/redis-cache.js";
import { RedisServer } from "../../support/redis-server.js";
import { runMicro } from "./micro.js";
import type { BenchOptions } from "./options.js";
import { markdownTable } from "./table.js";

export const CACHE = {
  name: "cache",
  what: "a hit in memory, in nanoseconds of processor time; callers of one missing key",
  run: runCache,
} as const;

const CALLERS = 10_000;
const HOUR_MS = 3_600_000;
const COLUMNS = ["cache", "callers of one missing key", "computations", "of a failing one", "ms"];

async function runCache(options: BenchOptions): Promise<string> {
  const rows = [await crowd("MemoryCache", [new MemoryCache()]), ...(await overRedis())];
  return `${await runMicro("cache", options)}\n\n${markdownTable(COLUMNS, rows)}`;
}

async function overRedis(): Promise<readonly (readonly string[])[]> {
  if (!RedisServer.isInstalled) return [];
  await using server = await RedisServer.start();
  const instances = [new RedisCache({ url: server.url }), new RedisCache({ url: server.url })];
  try {
    for (const each of instances) await each.start();
    return [await crowd("RedisCache, two instances", instances)];
  } finally {
    for (const each of instances) await each.stop();
  }
}

/** A row: all callers at once, by turns in each instance, first with a computation that works, then with one that fails. */
async function crowd(name: string, instances: readonly Cache[]): Promise<readonly string[]> {
  let computed = 0;
  const begin = performance.now();
  await askAll(instances, "works", async () => ++computed);
  const ms = performance.now() - begin;
  const worked = computed;
  await askAll(instances, "fails", () => Promise.reject(new Error(`failure ${++computed}`)));
  return [name, String(CALLERS), String(worked), String(computed - worked), ms.toFixed(0)];
}

function askAll(instances: readonly Cache[], key: string, make: () => Promise<number>): Promise<unknown> {
  const ask = async (index: number): Promise<unknown> =>
    instances[index % instances.length]?.remember(key, HOUR_MS, make).catch(String);
  return Promise.all(Array.from({ length: CALLERS }, (_each, index) => ask(index)));
}
