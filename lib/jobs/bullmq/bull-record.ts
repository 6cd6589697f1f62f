/** Translates a job of the framework into a job of BullMQ, whose data has short names, and back into a claim. */
import type { JobsOptions as BullJobOptions } from "bullmq";
import type { Redis } from "ioredis";
import { createSetupError } from "../../errors/setup-error.js";
import type { ClaimedJob, NewJob } from "../job-store.js";

/**
 * The stored form of a job, whose names stay short. Code outside this file reads and changes it through the functions below; only the
 * script of `bull-keys.ts` names a field.
 */
export interface BullData {
  /** The payload as JSON. */
  readonly p: string;
  /** The most attempts. */
  readonly m: number;
  /**
   * The number of starts that do not count as attempts: starts of runs that were released, and all starts before a dead letter was retried.
   */
  readonly o: number;
  /** The time at which a process first had no handler, in milliseconds since the Unix epoch. */
  readonly u?: number | undefined;
  /** The number of starts when the last attempt started. */
  readonly l?: number | undefined;
  /** The id of the request that dispatched the job. */
  readonly r?: string | undefined;
  /** The `traceparent`. */
  readonly t?: string | undefined;
  /** The `tracestate`. */
  readonly s?: string | undefined;
}

/** The part of BullMQ's job that a claim reads. */
export interface BullJobFacts {
  readonly id?: string | undefined;
  readonly name: string;
  readonly queueName: string;
  readonly data: BullData;
  readonly attemptsStarted: number;
}

/** The time for which BullMQ remembers finished jobs that may be added twice: by a relay, or as the job of a tick. */
const RETENTION_SECONDS = 600;
/** The maximum number of dead letters. */
const MAX_DEAD = 100_000;

/** @throws FrameworkError `E_JOB_CONCURRENCY` */
export function refuseConcurrency({
  name,
  concurrency,
}: {
  readonly name: string;
  readonly concurrency?: object | undefined;
}): void {
  if (concurrency === undefined) return;
  throw createSetupError(
    "E_JOB_CONCURRENCY",
    `BullJobs has no limit for the jobs of one key: the job ${name} has the option concurrency, which only DatabaseJobs and MemoryJobs keep; a queue of its own with queueConcurrency bounds it in each process`,
  );
}

export function toBullData({ payload, maxAttempts, requestId, traceparent, tracestate }: NewJob): BullData {
  return {
    p: payload,
    m: maxAttempts,
    o: 0,
    ...(requestId !== undefined && { r: requestId }),
    ...(traceparent !== undefined && { t: traceparent }),
    ...(tracestate !== undefined && { s: tracestate }),
  };
}

export function toBullOptions({ id, name, key, priority, delayMs }: NewJob, mayComeTwice: boolean): BullJobOptions {
  return {
    jobId: id,
    removeOnComplete: mayComeTwice ? { age: RETENTION_SECONDS, count: MAX_DEAD } : true,
    removeOnFail: { count: MAX_DEAD },
    ...(priority > 0 && { priority }),
    ...(delayMs > 0 && { delay: delayMs }),
    ...(key !== undefined && { deduplication: { id: getDeduplicationId(name, key) } }),
  };
}

/** A key belongs to the jobs of one name. */
export function getDeduplicationId(name: string, key: string): string {
  return `${name} ${key}`;
}

/**
 * Each start raises the token. The attempt is the number of starts that count. It exceeds the maximum only if a process died in the last
 * attempt: a start whose response never reached a worker must not use up the only attempt of a job.
 */
export function toClaim(job: BullJobFacts): ClaimedJob {
  const { id = "", name, queueName, data, attemptsStarted } = job;
  const [attempt, { maxAttempts, ...content }] = [countAttempts(job), readData(data)];
  return {
    id,
    name,
    queue: queueName,
    ...content,
    token: attemptsStarted,
    attempt: hasStartedLast(data) ? attempt : Math.min(attempt, maxAttempts),
    maxAttempts,
  };
}

/** The data of a job under the names of the framework. */
export function readData({ p, m, r, t, s }: BullData) {
  return { payload: p, maxAttempts: m, requestId: r, traceparent: t, tracestate: s };
}

/** The number of starts that count as attempts. */
export function countAttempts({ data, attemptsStarted }: Pick<BullJobFacts, "data" | "attemptsStarted">): number {
  return attemptsStarted - data.o;
}

/** The time at which a process first had no handler for the job, in milliseconds since the Unix epoch. */
export function getUnhandledSince({ u }: BullData): number | undefined {
  return u;
}

/** The data after a start that does not count as an attempt. */
export function toUncounted(data: BullData): BullData {
  return { ...data, o: data.o + 1 };
}

/** The data after a start in a process without a handler. It does not count as an attempt. */
export function toUnhandled(data: BullData, since: number): BullData {
  return { ...toUncounted(data), u: since };
}

/** The data after a start in a process with a handler. */
export function toHandled(data: BullData): BullData {
  return { ...data, u: undefined };
}

/** The data of a dead letter that is retried with all its attempts. */
export function toRetried(data: BullData, attemptsStarted: number): BullData {
  return { ...toHandled(data), o: attemptsStarted };
}

/** Whether the last attempt was marked. A start that does not count raises `o`, so the earlier mark is no longer enough. */
function hasStartedLast({ l, o, m }: BullData): boolean {
  return l !== undefined && l - o >= m;
}

/** The data of a job whose last attempt starts. */
export function toLastAttempt(data: BullData, { token, maxAttempts }: ClaimedJob): BullData {
  return { ...data, o: token - maxAttempts, l: token };
}

/** Keys: the job and its lock. Arguments: the token of the lock, the new data as JSON. */
const CHANGE = `if redis.call("GET", KEYS[2]) ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[1], "data", ARGV[2])
return 1`;

export interface DataChange {
  /** The key of the job. */
  readonly key: string;
  readonly token: string;
  readonly data: BullData;
}

/** False if another worker, or none, has the lock of the job. */
export async function changeData(redis: Redis, { key, token, data }: DataChange): Promise<boolean> {
  return (await redis.call("EVAL", CHANGE, 2, key, `${key}:lock`, token, JSON.stringify(data))) === 1;
}
