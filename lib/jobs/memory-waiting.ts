/** The waiting jobs of `MemoryJobs`, in the order of the claims. */
import type { NewJob } from "./job-store.js";

export interface StoredJob extends Omit<NewJob, "delayMs"> {
  state: "waiting" | "running" | "dead";
  due: number;
  token: number;
  attempt: number;
  worker: string | undefined;
  unhandledSince: number | undefined;
  leasedUntil: number;
  reason: string;
  diedAt: number;
  /** Somebody asked to cancel it while it ran. */
  isCancelled: boolean;
}

export class WaitingJobs {
  private jobs: StoredJob[] = [];

  add(job: StoredJob): void {
    let low = 0;
    let high = this.jobs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.jobs[middle];
      if (other !== undefined && comesBefore(other, job)) low = middle + 1;
      else high = middle;
    }
    this.jobs.splice(low, 0, job);
  }

  remove(job: StoredJob): void {
    this.jobs = this.jobs.filter((each) => each !== job);
  }

  /** Removes the first jobs that `accepts` takes, at most `limit`. */
  take(limit: number, accepts: (job: StoredJob) => boolean): readonly StoredJob[] {
    const taken = new Set<StoredJob>();
    for (const job of this.jobs) {
      if (taken.size === limit) break;
      if (accepts(job)) taken.add(job);
    }
    this.jobs = this.jobs.filter((job) => !taken.has(job));
    return [...taken];
  }
}

export function comesBefore(one: StoredJob, other: StoredJob): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  return one.due === other.due ? one.id < other.id : one.due < other.due;
}
