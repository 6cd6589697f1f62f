/** The waiting jobs of `MemoryJobs`, in the order of the claims. */
import type { NewJob } from "../../job-store.js";

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
  /** Its cancellation was requested while it ran. */
  isCancelled: boolean;
  /** The token of the claim whose handler was started. */
  startedToken: number;
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

  /** Removes and returns the first jobs that `accepts` allows, at most `limit`. */
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

export function toWaiting(job: Omit<NewJob, "delayMs">, due: number): StoredJob {
  const claim = { token: 0, attempt: 0, startedToken: 0, worker: undefined, leasedUntil: 0, isCancelled: false };
  return { ...job, ...claim, state: "waiting", due, unhandledSince: undefined, reason: "", diedAt: 0 };
}

type BoundedJob = Pick<StoredJob, "name" | "concurrency">;

/** The slots of concurrency keys: the running jobs of each key are counted for one claim. */
export class MemorySlots {
  private counted: Map<string, number> | undefined;

  constructor(private readonly jobs: Iterable<StoredJob>) {}

  /** False if the key of the job is full. */
  take(job: BoundedJob): boolean {
    if (job.concurrency === undefined) return true;
    this.counted ??= this.count();
    const taken = this.counted.get(toSlotKey(job)) ?? 0;
    if (taken >= job.concurrency.limit) return false;
    this.counted.set(toSlotKey(job), taken + 1);
    return true;
  }

  private count(): Map<string, number> {
    const counted = new Map<string, number>();
    for (const job of this.jobs)
      if (job.state === "running" && job.concurrency !== undefined)
        counted.set(toSlotKey(job), (counted.get(toSlotKey(job)) ?? 0) + 1);
    return counted;
  }
}

function toSlotKey({ name, concurrency }: BoundedJob): string {
  return `${name}\n${concurrency?.key ?? ""}`;
}
