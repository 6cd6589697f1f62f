/**
 * Run by redis.ts: both contenders in one process, in turns, each with the concurrency of the last argument. Prints the table. Fails where
 * the limiter sends more than one command for a check.
 */

import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { RateLimit, type CacheScript, type Context, type Run } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { CacheBuckets } from "../../../lib/stages/rate-limit/cache-bucket.js";
import { Quota } from "../../../lib/stages/rate-limit/quota.js";
import { QUOTA } from "./fixtures.js";
import { markdownTable, median, whole } from "./table.js";

interface Contender {
  readonly name: string;
  readonly check: (turn: number) => void | Promise<unknown>;
}

interface Turn {
  readonly checks: number;
  readonly perSecond: number;
  /** Microseconds of this process's processor time per check. */
  readonly cost: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Commands that the server got from clients. */
  readonly roundTrips: number;
}

const CLIENTS = 1000;
const WINDOW_MS = 60_000;
const COLUMNS = ["contender", "checks/s", "ratio", "CPU µs/check", "p50 ms", "p99 ms", "round trips a check"];
/** The commands inside the script, which the server counts too. */
const INSIDE = new Set(["time", "hmget", "hset", "pexpire"]);

const [, , url = "", ...numbers] = process.argv;
const [rounds = 1, seconds = 1, warmUp = 1, concurrency = 1] = numbers.map(Number);

const client = new Redis(url);
const observer = new Redis(url);
const cache = new RedisCache({ url, namespace: "bench" });
await cache.start();
await client.script("LOAD", scriptOfTheLimit());
console.log(await measured([bare(scriptOfTheLimit()), limiter()]));
for (const each of [client, observer]) each.disconnect();
await cache.stop();

function bare(source: string): Contender {
  const digest = createHash("sha1").update(source).digest("hex");
  const check = (turn: number) => client.evalsha(digest, 1, `bare:${keyOf(turn)}`, QUOTA, WINDOW_MS, QUOTA);
  return { name: "EVALSHA by hand", check };
}

function limiter(): Contender {
  const run = RateLimit.perMinute(QUOTA).by({ header: "x-key" }).redis(cache).wrap(nothing);
  return { name: "stagecraft", check: (turn) => run(requestOf(keyOf(turn))) };
}

function keyOf(turn: number): string {
  return `client ${turn % CLIENTS}`;
}

/** The part of a request that the layer reads. */
function requestOf(key: string): Context {
  return { incoming: { headers: { "x-key": key } }, completeHeadWith: nothing } as unknown as Context;
}

function nothing(): ReturnType<Run> {}

/** The script of the limiter, which the cache records. */
function scriptOfTheLimit(): string {
  let recorded = "";
  class Listening extends RedisCache {
    override script(source: string): CacheScript {
      recorded = source;
      return super.script(source);
    }
  }
  const buckets = new CacheBuckets(new Listening(), Quota.of(QUOTA, WINDOW_MS), "");
  if (recorded === "") throw new Error(`${buckets.constructor.name} prepared no script`);
  return recorded;
}

async function measured(contenders: readonly Contender[]): Promise<string> {
  const turns = new Map(contenders.map((contender): [Contender, Turn[]] => [contender, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [contender, taken] of turns) {
      await load(contender, warmUp);
      taken.push(await oneTurn(contender));
    }
  }
  return table([...turns]);
}

async function oneTurn(contender: Contender): Promise<Turn> {
  await observer.config("RESETSTAT");
  const [started, before] = [performance.now(), process.cpuUsage()];
  const latencies = await load(contender, seconds);
  const { user, system } = process.cpuUsage(before);
  const checks = latencies.length;
  const perSecond = (checks / (performance.now() - started)) * 1000;
  const roundTrips = await commands();
  if (roundTrips !== checks) throw new Error(`${contender.name}: ${roundTrips} round trips for ${checks} checks`);
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.floor(part * checks)] ?? Number.NaN;
  return { checks, perSecond, cost: (user + system) / checks, p50: at(0.5), p99: at(0.99), roundTrips };
}

/** The duration of each check, in milliseconds. */
async function load({ check }: Contender, time: number): Promise<number[]> {
  const latencies: number[] = [];
  const end = performance.now() + time * 1000;
  let turn = 0;
  const one = async (): Promise<void> => {
    for (let begun = performance.now(); begun < end;) {
      await check(turn);
      turn += 1;
      const now = performance.now();
      latencies.push(now - begun);
      begun = now;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return latencies;
}

/** The number of commands of clients since the reset of the statistics. */
async function commands(): Promise<number> {
  const stats = await observer.info("commandstats");
  const counted = [...stats.matchAll(/^cmdstat_([a-z]+)(?:\|[a-z]+)?:calls=(\d+)/gm)];
  const sent = counted.filter(([, name = ""]) => !INSIDE.has(name) && name !== "config" && name !== "info");
  return sent.reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

/** A ratio is taken within a round; medians are taken over the rounds. */
function table(results: readonly (readonly [Contender, readonly Turn[]])[]): string {
  const reference = results[0]?.[1] ?? [];
  const rows = results.map(([{ name }, turns]) => {
    const over = (pick: (turn: Turn, round: number) => number): number => median(turns.map(pick));
    return [
      name,
      whole(over(({ perSecond }) => perSecond)),
      over(({ perSecond }, round) => perSecond / (reference[round]?.perSecond ?? 0)).toFixed(2),
      over(({ cost }) => cost).toFixed(1),
      over(({ p50 }) => p50).toFixed(2),
      over(({ p99 }) => p99).toFixed(2),
      over(({ roundTrips, checks }) => roundTrips / checks).toFixed(2),
    ];
  });
  return markdownTable(COLUMNS, rows);
}
