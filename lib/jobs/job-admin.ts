/**
 * The port through which operators control a store: they list and cancel jobs, pause queues, and remove dead letters. Every call is
 * bounded.
 *
 * Not for applications: they call the methods of `Jobs` with these names.
 */

/** Dead: a dead letter. */
export type JobState = "waiting" | "running" | "dead";

/** A job without its payload. */
export interface ListedJob {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: JobState;
  readonly priority: number;
  /** The attempts so far, that of a running job included. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When it may run, in milliseconds since the Unix epoch; only for a job that waits. */
  readonly dueAt: number | undefined;
  /** Only for a dead letter. */
  readonly reason: string | undefined;
  /** Milliseconds since the Unix epoch; only for a dead letter. */
  readonly diedAt: number | undefined;
}

export interface ShownJob extends ListedJob {
  /** JSON. It may contain data that no operator should read. */
  readonly payload: string;
  readonly requestId: string | undefined;
}

export interface JobList {
  readonly queue: string;
  /** In this order. */
  readonly states: readonly JobState[];
  /** Absent: all names. */
  readonly name: string | undefined;
  readonly limit: number;
}

/**
 * `removed`: the job waited, and will not run. `asked`: the job runs, and the signal of its handler aborts; in another process it aborts at
 * the next heartbeat. `gone`: the job has ended, or is a dead letter.
 */
export type Cancellation = "removed" | "asked" | "gone";

/** A queue whose jobs are not claimed. */
export interface PausedQueue {
  readonly queue: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  readonly by: string;
}

/** A queue that has jobs. Each number is at most 10 001, which means more than 10 000. */
export interface QueueSummary {
  readonly queue: string;
  /** Delayed jobs and retries included. */
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
  /** When the waiting job that is due first may run, in milliseconds since the Unix epoch. Absent: no job waits. */
  readonly oldestDueAt: number | undefined;
}

/** What a living worker process works on. */
export interface WorkerSummary {
  /** The names of the jobs that it has handlers for. Absent: the process has an older version, and does not list them. */
  readonly names: readonly string[] | undefined;
  /** Absent: all queues. */
  readonly queues: readonly string[] | undefined;
}

export interface DeadLetterPurge {
  /** Removes dead letters that are older. Absent: the age removes no dead letter. */
  readonly olderThanMs: number | undefined;
  /** Removes all dead letters but this many of the latest. Absent: the number removes no dead letter. */
  readonly keep: number | undefined;
  /** The maximum number of dead letters that one call removes. */
  readonly limit: number;
}

export interface JobAdmin {
  /** Running and waiting jobs are in the order of their claims. Of the dead letters the latest comes first. */
  list(request: JobList): Promise<readonly ListedJob[]>;

  /** The queues with jobs, at most 100. The queue whose job has waited longest comes first. */
  queues(): Promise<readonly QueueSummary[]>;

  /** The living workers. `undefined` from a store that does not know the names that they handle. */
  workers(): Promise<readonly WorkerSummary[] | undefined>;

  show(id: string): Promise<ShownJob | undefined>;

  cancel(id: string): Promise<Cancellation>;

  /** Lets no worker claim a job of the queue. False if it was paused already. */
  pause(queue: string, by: string): Promise<boolean>;

  /** False if the queue was not paused. */
  resume(queue: string): Promise<boolean>;

  paused(): Promise<readonly PausedQueue[]>;

  /** Removes dead letters, the oldest first. Returns their number. */
  purge(request: DeadLetterPurge): Promise<number>;
}
