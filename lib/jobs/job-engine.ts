/**
 * A store that brings a loop of its own: an existing queue, whose workers wait and lock in its own way. `Jobs` begins that loop instead of
 * its own; handlers, retries, reasons and events stay the same.
 */
import type { JobTools } from "./handled-job.js";
import type { JobReports } from "./job-reports.js";
import type { JobStore } from "./job-store.js";
import type { WorkerSettings } from "./store-worker.js";

/** A loop that runs jobs. */
export interface JobWorker {
  begin(): Promise<void>;
  /** Jobs that run may take `deadlineMs`; the others go back. */
  end(deadlineMs: number): Promise<void>;
  /** A job may be due. */
  wake(): void;
}

/** Of the steps of a `JobStore`, those of a claim belong to the loop. */
export interface JobEngine extends Omit<
  JobStore,
  "claim" | "complete" | "fail" | "giveBack" | "renew" | "beat" | "leave" | "reap" | "onWake"
> {
  worker(settings: WorkerSettings, tools: JobTools, reports: JobReports): JobWorker;
}

export function isJobEngine(store: JobStore | JobEngine): store is JobEngine {
  return "worker" in store;
}
