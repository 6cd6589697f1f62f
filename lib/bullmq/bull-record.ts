/** Translates a job of the framework into a job of BullMQ, whose data has short names, and back into a claim. */
import type { JobsOptions as BullJobOptions } from "bullmq";
import type { ClaimedJob, NewJob } from "../jobs/job-store.js";

export interface BullData {
  /** The payload as JSON. */
  readonly p: string;
  /** The most attempts. */
  readonly m: number;
  /** Starts that do not count as attempts: those of runs that were returned, and those before a retry of a dead letter. */
  readonly o: number;
  /** When a process first had no handler, in milliseconds since the Unix epoch. */
  readonly u?: number | undefined;
  readonly r?: string | undefined;
  readonly t?: string | undefined;
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

/** How long finished jobs are kept that may be added twice: by a relay, or as the job of a tick. */
const KEPT_SECONDS = 600;
/** The most dead letters that are kept. */
const MOST_DEAD = 100_000;

export function bullData({ payload, maxAttempts, requestId, traceparent, tracestate }: NewJob): BullData {
  return {
    p: payload,
    m: maxAttempts,
    o: 0,
    ...(requestId !== undefined && { r: requestId }),
    ...(traceparent !== undefined && { t: traceparent }),
    ...(tracestate !== undefined && { s: tracestate }),
  };
}

export function bullOptions({ id, name, key, priority, delayMs }: NewJob, mayComeTwice: boolean): BullJobOptions {
  return {
    jobId: id,
    removeOnComplete: mayComeTwice ? { age: KEPT_SECONDS, count: MOST_DEAD } : true,
    removeOnFail: { count: MOST_DEAD },
    ...(priority > 0 && { priority }),
    ...(delayMs > 0 && { delay: delayMs }),
    ...(key !== undefined && { deduplication: { id: deduplicationId(name, key) } }),
  };
}

/** A key belongs to the jobs of one name. */
export function deduplicationId(name: string, key: string): string {
  return `${name} ${key}`;
}

/** Each start raises the token. The attempt is the number of starts without those that do not count. */
export function claimOf({ id = "", name, queueName, data, attemptsStarted }: BullJobFacts): ClaimedJob {
  return {
    id,
    name,
    queue: queueName,
    payload: data.p,
    token: attemptsStarted,
    attempt: attemptsStarted - data.o,
    maxAttempts: data.m,
    requestId: data.r,
    traceparent: data.t,
    tracestate: data.s,
  };
}
