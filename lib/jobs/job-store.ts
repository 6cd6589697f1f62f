/**
 * The port between `Jobs` and the place where jobs wait. A store keeps each job until it is completed or dead-lettered, lets one worker at
 * a time claim it, and reaps the claims of workers that died. `MemoryJobs` is the smallest store.
 *
 * A claim carries a token, which each claim of the job raises. Every later step of the worker names id and token; a store refuses a step
 * whose token is not that of the current claim. Times are milliseconds by the clock of the store, never by that of the worker.
 *
 * Not for applications: they call `jobs.dispatch`. Write a store only for a queue that the framework does not support, and test it with
 * `obeysQueue` of `@stagecraft/framework/testing/contracts`.
 */
import type { SubsystemHost } from "../lifecycle/operations.js";
import type { JobAdmin } from "./job-admin.js";

/** Whether the key is unique among the waiting jobs of its name, or also among the running ones. */
export type KeyRule = "waiting" | "until-done";

/** Jobs of one name with one key count together. Of these, at most `limit` are claimed at a time. */
export interface ConcurrencyKey {
  readonly key: string;
  readonly limit: number;
}

export interface NewJob {
  /** The process that dispatches creates it. Later ids are larger. */
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  /** JSON, at most 64 KiB. */
  readonly payload: string;
  readonly delayMs: number;
  readonly maxAttempts: number;
  readonly key: string | undefined;
  readonly unique: KeyRule;
  readonly concurrency?: ConcurrencyKey | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/**
 * `replaced`: a job with this key was waiting. It takes the payload, the attempts, the queue and the priority of the new job, and the
 * earlier of the two due times. `kept`: a job with this key waits or runs, and it did not change.
 */
export interface Dispatched {
  readonly outcome: "created" | "replaced" | "kept";
  /** The id of the job that will run. */
  readonly id: string;
}

export interface JobClaim {
  readonly id: string;
  readonly token: number;
  /** As the store writes it. When the claim ends, another job with this key may be claimed. */
  readonly concurrency?: ConcurrencyKey | undefined;
}

export interface ClaimedJob extends JobClaim {
  readonly name: string;
  readonly queue: string;
  readonly payload: string;
  /** This attempt included. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

export interface ClaimRequest {
  readonly worker: string;
  /** Absent: all queues. A paused queue gives no job in either case. */
  readonly queues: readonly string[] | undefined;
  /** Queues of which this worker already runs as many jobs as their limit allows. */
  readonly except?: readonly string[] | undefined;
  readonly limit: number;
  readonly leaseMs: number;
}

/** The data that a worker sends with each heartbeat. */
export interface LiveWorker {
  readonly id: string;
  /** The names of the jobs that it has handlers for. */
  readonly names: readonly string[];
  /** Absent: all queues. */
  readonly queues: readonly string[] | undefined;
}

export interface Heartbeat {
  /** False if the store has declared the worker dead since its last heartbeat. Its claims are then refused. */
  readonly isKnown: boolean;
  /** Running jobs of this worker whose cancellation was requested. */
  readonly cancelled: readonly JobClaim[];
}

/** Waiting jobs of one name that a process without a handler for it has claimed and released. */
export interface UnhandledJobs {
  readonly name: string;
  readonly queue: string;
  /** At most 10 001. */
  readonly jobs: number;
  /** The first claim without a handler, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export interface JobFailure {
  /** At most 1000 characters. */
  readonly reason: string;
  /** Absent: the job becomes a dead letter. */
  readonly retryInMs: number | undefined;
}

export interface DeadJob {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly attempt: number;
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly diedAt: number;
}

/** A job whose worker died, whose lease ended, or which has waited too long for a handler. */
export interface ReapedJob {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly attempt: number;
  readonly isDead: boolean;
  readonly reason: string;
}

/** The reason of a job whose claim was reaped. */
export const WORKER_DIED = "the worker died, or its lease ended";
/** The reason of a dead letter that no process had a handler for. */
export const UNHANDLED = "E_JOB_UNKNOWN no process has handled this name for a day";

/** The maximum that `counts` and `unhandled` count to, so that their cost is bounded. */
export const MAX_COUNTED = 10_001;

/** Each number is at most 10 001, which means more than 10 000. */
export interface JobCounts {
  /** The number of waiting jobs, delayed jobs and retries included. */
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

export interface JobStore {
  /** The port for operators. */
  readonly admin: JobAdmin;

  /** True if `add` is part of the innermost transaction of the caller. Otherwise `Jobs` calls `add` after the commit. */
  readonly joinsTransactions: boolean;

  /** The database in which jobs wait. The command starts it alone, without the rest of the application. */
  readonly database?: object | undefined;

  /** Called once by `build()`. It opens no connection. */
  prepare?(host: SubsystemHost): void;
  start?(): unknown;
  /** Like `start`, for an operator who works no jobs. Absent: `start` serves for both. */
  connect?(): unknown;
  stop?(): unknown;
  probe?(signal: AbortSignal): unknown;

  /** The results are in the order of `jobs`. */
  add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]>;

  /**
   * Claims jobs that are due: by priority, and in each queue by due time and id. Among queues with jobs of one priority, the queue whose
   * first job has waited longest comes first. Each claim raises the token and the attempt of its job. At most as many jobs of a concurrency
   * key are claimed at a time as its limit allows. The other jobs of the key wait, and delay no other job.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;

  /**
   * Called before the handlers of last attempts start. A job whose worker dies becomes a dead letter only if its last attempt is marked as
   * started. Returns the refused claims.
   */
  markStarted(claims: readonly JobClaim[]): Promise<readonly JobClaim[]>;

  /** Removes the jobs. Returns the refused claims. */
  complete(claims: readonly JobClaim[]): Promise<readonly JobClaim[]>;

  /**
   * Returns the job to the waiting jobs, or moves it to the dead letters. Drops it if another job with the same key waits already. False if
   * the claim was refused.
   */
  fail(claim: JobClaim, failure: JobFailure): Promise<boolean>;

  /** Returns the jobs to the waiting jobs, due at once. The attempt does not count. */
  release(claims: readonly JobClaim[]): Promise<void>;

  /**
   * Releases the claims of the worker that the worker does not know of, because the response to a claim was lost. Returns the number of
   * released jobs.
   */
  releaseUnknown(worker: string, known: readonly JobClaim[]): Promise<number>;

  /**
   * Returns jobs that the worker has no handler for to the waiting jobs, due after `delayMs`. The attempt does not count.
   */
  waitUnhandled(claims: readonly JobClaim[], delayMs: number): Promise<void>;

  /** Counts the waiting jobs that a process had no handler for, by name and queue. */
  unhandled(): Promise<readonly UnhandledJobs[]>;

  /** Renews the leases, which then end `leaseMs` from now. Returns the refused claims. */
  renew(claims: readonly JobClaim[], leaseMs: number): Promise<readonly JobClaim[]>;

  /** Records that the worker is alive, with the jobs and queues that it works on. */
  heartbeat(worker: LiveWorker): Promise<Heartbeat>;

  /** Removes a worker that has stopped and has no claim. */
  leave(worker: string): Promise<void>;

  /**
   * Ends the claims of workers without a heartbeat for `deadAfterMs`, and the claims whose lease has ended. The attempt counts, unless it
   * is the last one and was not marked as started. A job that has waited for a handler for a day is moved to the dead letters, unless a
   * living worker handles its name on its queue.
   */
  reap(deadAfterMs: number): Promise<readonly ReapedJob[]>;

  /**
   * Records the tick of a schedule and adds its job. A tick whose job cannot be added is not recorded. False if this tick or a later one is
   * recorded already. A recorded tick that lies more than an hour ahead of the time of the store does not count, because the clock was set
   * back since.
   */
  tick(schedule: string, due: number, job: NewJob | undefined): Promise<boolean>;

  /** The due time of the last recorded tick that counts. */
  lastTick(schedule: string): Promise<number | undefined>;

  /** The time of the store, in milliseconds since the Unix epoch. */
  now(): Promise<number>;

  /** The latest first. */
  dead(limit: number): Promise<readonly DeadJob[]>;

  /** Moves a dead job back to the waiting jobs, with all its attempts. False if there is no such dead job. */
  retry(id: string): Promise<boolean>;

  counts(): Promise<JobCounts>;

  /** Calls `listener` when a job may be due before the next poll. Returns a function that removes the listener. */
  onWake?(listener: () => void): () => void;

  /**
   * Called when jobs were added and their transaction has committed. A store may notify the workers of other processes. The call returns at
   * once.
   */
  announce?(): void;
}
