/**
 * Unique keys by BullMQ's `deduplication`, which has one rule: a job with the id exists until it has finished. For the default rule of the
 * framework, a script changes a waiting job, and frees the id of a running one for its successor. The script reads and changes the job in
 * one step, so no worker can claim the job in between. If the process is killed, the job has either its old payload or its new one.
 */
import type { JobsOptions as BullJobOptions, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Dispatched, NewJob } from "../job-store.js";
import { hashKey } from "../stores/database/insert-jobs.js";
import { createKeyContentionError } from "../stores/database/key-mutex.js";
import { type BullData, toBullData, getDeduplicationId } from "./bull-record.js";

/** A worker that is as fast as the dispatches claims about every second job between two steps. Then ten tries can end without a job. */
const MAX_TRIES = 100;
/** BullMQ sorts delayed jobs by a score: their time in milliseconds times this number, plus a counter. */
const SCORES_PER_MS = 0x1000;

/**
 * Keys: the id of the deduplication, the job, the lists of active, completed, failed and delayed jobs, the marker that wakes workers.
 * Arguments: the id of the job, its new data as JSON, its new score among the delayed jobs.
 *
 * The job keeps its number of starts that do not count as attempts. A job that is due earlier stays among the delayed jobs, and the next
 * worker takes it from there. A job that runs or has ended loses the deduplication id, so that the next try adds a new job.
 */
const REPLACE = `local function at(key) return redis.call("ZSCORE", key, ARGV[1]) end
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return nil end
local old = redis.call("HGET", KEYS[2], "data")
if not old or redis.call("LPOS", KEYS[3], ARGV[1]) or at(KEYS[4]) or at(KEYS[5]) then
  redis.call("DEL", KEYS[1])
  return nil
end
local starts = string.format('"o":%d', cjson.decode(old).o)
redis.call("HSET", KEYS[2], "data", "{" .. starts .. "," .. string.sub(ARGV[2], 2))
local score = at(KEYS[6])
if score and tonumber(ARGV[3]) < tonumber(score) then
  redis.call("ZADD", KEYS[6], ARGV[3], ARGV[1])
  local first = redis.call("ZRANGE", KEYS[6], 0, 0, "WITHSCORES")
  redis.call("ZADD", KEYS[7], tonumber(first[2]) / ${SCORES_PER_MS}, "1")
end
return redis.call("HGET", KEYS[2], "priority") or "0"`;

const LISTS = ["active", "completed", "failed", "delayed", "marker"];

export interface KeyTools {
  readonly queue: Queue<BullData>;
  readonly redis: Pick<Redis, "call" | "get">;
}

/** The id of the job that holds the key. The relay knows only the hash of a key, and adds jobs with it. */
export async function findMoved({ queue, redis }: KeyTools, { name, key = "" }: NewJob): Promise<string | undefined> {
  return (await redis.get(queue.toKey(`de:${getDeduplicationId(name, hashKey(name, key))}`))) ?? undefined;
}

export async function addKeyed(tools: KeyTools, job: NewJob, options: BullJobOptions): Promise<Dispatched> {
  const { queue } = tools;
  const data = toBullData(job);
  for (let left = MAX_TRIES; left > 0; left--) {
    const added = await queue.add(job.name, data, options);
    const known = added.id ?? job.id;
    if (known === job.id) return { outcome: "created", id: known };
    if (job.unique === "until-done") return { outcome: "kept", id: known };
    const priority = await replace(tools, known, job);
    if (priority === undefined) continue;
    if (priority !== job.priority) await changePriority(queue, known, job.priority);
    return { outcome: "replaced", id: known };
  }
  throw createKeyContentionError(job.name);
}

/** Returns the old priority, or undefined if the job no longer waits. Then the id is free, or another job has it. */
async function replace({ queue, redis }: KeyTools, id: string, job: NewJob): Promise<number | undefined> {
  const { o: _, ...data } = toBullData(job);
  const names = [`de:${getDeduplicationId(job.name, job.key ?? "")}`, id, ...LISTS];
  const keys = names.map((name) => queue.toKey(name));
  const score = (Date.now() + job.delayMs) * SCORES_PER_MS;
  const priority = await redis.call("EVAL", REPLACE, keys.length, ...keys, id, JSON.stringify(data), score);
  return priority === null ? undefined : Number(priority);
}

/**
 * The priority changes in a second step. A process that dies before this step has not confirmed the dispatch. The job may have ended by
 * then.
 */
async function changePriority(queue: KeyTools["queue"], id: string, priority: number): Promise<void> {
  const job = await queue.getJob(id);
  await job?.changePriority({ priority }).catch(async (error: unknown) => {
    if ((await queue.getJob(id)) !== undefined) throw error;
  });
}
