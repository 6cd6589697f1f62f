/**
 * A store that brings a worker loop: an existing queue whose workers wait and lock by themselves. `Jobs` starts that loop instead of a
 * `StoreWorker`. Handlers, retries, reasons and events stay the same.
 */
import type { JobTools } from "./worker/handled-job.js";
import type { JobReports } from "./job-reports.js";
import type { JobStore } from "./job-store.js";

export interface WorkerSettings {
  /** The maximum number of jobs at once. */
  readonly concurrency: number;
  /** Jobs that are claimed ahead. */
  readonly prefetch: number;
  readonly queues: readonly string[] | undefined;
  /** The maximum number of jobs of a queue at once. For other queues only `concurrency` counts. */
  readonly queueLimits?: ReadonlyMap<string, number>;
}

/** A loop that runs jobs. */
export interface JobWorker {
  start(): Promise<void>;
  /** Running jobs may take `deadlineMs`. The other claimed jobs are released. */
  stop(deadlineMs: number): Promise<void>;
  /** Called when a job may be due. */
  wake(): void;
  /** Aborts the signal of a job that this process runs. */
  cancel(id: string): void;
  /** Whether the worker has, or may have, a job whose outcome the store does not know yet. */
  readonly isBusy: boolean;
}

/** A `JobStore` without the steps of a claim, which the loop does itself. */
export interface JobEngine extends Omit<
  JobStore,
  | "claim"
  | "markStarted"
  | "complete"
  | "fail"
  | "release"
  | "releaseUnknown"
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
