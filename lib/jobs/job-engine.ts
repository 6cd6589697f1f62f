/**
 * A store with a loop of its own: an existing queue whose workers have their own way of waiting and locking. `Jobs` begins that loop
 * instead of its own. Handlers, retries, reasons and events stay the same.
 */
import type { JobTools } from "./worker/handled-job.js";
import type { JobReports } from "./job-reports.js";
import type { JobStore } from "./job-store.js";

export interface WorkerSettings {
  /** The most jobs at once. */
  readonly concurrency: number;
  /** Jobs that are claimed ahead. */
  readonly prefetch: number;
  readonly queues: readonly string[] | undefined;
  /** The most jobs of a queue at once; for other queues `concurrency` holds alone. */
  readonly queueLimits?: ReadonlyMap<string, number>;
}

/** A loop that runs jobs. */
export interface JobWorker {
  start(): Promise<void>;
  /** Jobs that run may take `deadlineMs`. The other claimed jobs are returned to the store. */
  stop(deadlineMs: number): Promise<void>;
  /** Called when a job may be due. */
  wake(): void;
  /** Aborts the signal of a job that this process runs. */
  cancel(id: string): void;
}

/** A `JobStore` without the steps of a claim: those belong to the loop. */
export interface JobEngine extends Omit<
  JobStore,
  | "claim"
  | "markStarted"
  | "complete"
  | "fail"
  | "release"
  | "releaseUnheld"
  | "waitUnhandled"
  | "unhandled"
  | "renew"
  | "heartbeat"
  | "leave"
  | "reap"
  | "onWake"
> {
  worker(settings: WorkerSettings, tools: JobTools, reports: JobReports): JobWorker;
}

export function isJobEngine(store: JobStore | JobEngine): store is JobEngine {
  return "worker" in store;
}
