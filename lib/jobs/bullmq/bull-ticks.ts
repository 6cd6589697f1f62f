/**
 * The ticks of schedules in Redis, for `BullJobs` without a database. The job of a tick is added before the tick is recorded: a process
 * that dies between the two leaves the tick to the next check. The id of the job is a hash of schedule and time, and BullMQ remembers a
 * finished job for some minutes, so a tick that is added again is still one job.
 */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { NewJob } from "../job-store.js";
import { MAX_AHEAD_MS } from "../stores/database/job-ticks.js";

/** Records a tick, unless the same tick or a later one that counts is recorded. Arguments: schedule, tick, how far ahead a tick counts. */
const RECORD = `local last = tonumber(redis.call("HGET", KEYS[1], ARGV[1]))
local now = redis.call("TIME")[1] * 1000
if last and last >= tonumber(ARGV[2]) and last <= now + ARGV[3] then return 0 end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return 1`;

/** The key of the hash that has the last tick of each schedule. */
export function getTicksKey(prefix: string): string {
  return `${prefix}:jobs:ticks`;
}

export async function recordTick(redis: Redis, key: string, schedule: string, due: number): Promise<boolean> {
  return (await redis.call("EVAL", RECORD, 1, key, schedule, due, MAX_AHEAD_MS)) === 1;
}

export async function readLastTick(redis: Redis, key: string, schedule: string): Promise<number | undefined> {
  const [last, now] = await Promise.all([redis.hget(key, schedule), readTime(redis)]);
  return last === null || Number(last) > now + MAX_AHEAD_MS ? undefined : Number(last);
}

/** The time of the server, in milliseconds. */
export async function readTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.trunc(Number(micros) / 1000);
}

/** The job of a tick, with the same id in each process. */
export function toTickJob(schedule: string, due: number, job: NewJob): NewJob {
  const id = createHash("sha256").update(`${schedule}\n${due}`).digest("hex").slice(0, 32);
  return { ...job, id: `tick-${id}` };
}
