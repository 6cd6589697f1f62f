/** The claims of one worker, in their order: the claims of running jobs, and of jobs that are claimed ahead. */
import { type Clock, sleep } from "../../runtime/clock.js";
import type { ClaimedJob, JobStore } from "../job-store.js";
import { runQuietly } from "./quiet.js";

const PAUSE_MS = 1000;

export interface WorkerClaim {
  readonly job: ClaimedJob;
  readonly control: AbortController;
  /** The end of the lease, by the monotonic clock of the process. */
  leaseEnds: number;
  /** Settles when the handler has settled. */
  done: Promise<void>;
}

export class WorkerClaims {
  private readonly running = new Map<string, WorkerClaim>();
  private readonly ready = new Map<string, WorkerClaim>();

  get size(): number {
    return this.running.size + this.ready.size;
  }

  get runningSize(): number {
    return this.running.size;
  }

  get readySize(): number {
    return this.ready.size;
  }

  all(): readonly WorkerClaim[] {
    return [...this.running.values(), ...this.ready.values()];
  }

  jobs(): readonly ClaimedJob[] {
    return this.all().map(({ job }) => job);
  }

  find(id: string): WorkerClaim | undefined {
    return this.running.get(id) ?? this.ready.get(id);
  }

  /**
   * The limit of the next claim, and the queues that are full. A claim takes at most as many jobs as the queue with the least capacity may
   * still run, so no queue exceeds its limit.
   */
  getCapacity(places: number, queueLimits: ReadonlyMap<string, number> = new Map()) {
    const except: string[] = [];
    let limit = places;
    for (const [queue, max] of queueLimits) {
      const left = max - this.all().filter(({ job }) => job.queue === queue).length;
      if (left <= 0) except.push(queue);
      else limit = Math.min(limit, left);
    }
    return { limit, except };
  }

  /** Renews the leases that have lost a third of their time. Returns the claims that have ended. */
  async renew(store: Pick<JobStore, "renew">, now: number, leaseMs: number): Promise<readonly WorkerClaim[]> {
    const ended = this.all().filter(({ leaseEnds }) => leaseEnds <= now);
    // A handler that ignored its timeout may run until the end of its lease.
    const due = this.all().filter(
      ({ leaseEnds, control }) => leaseEnds > now && leaseEnds - now < (leaseMs * 2) / 3 && !control.signal.aborted,
    );
    if (due.length === 0) return ended;
    const jobs = due.map(({ job }) => job);
    const refused = new Set((await runQuietly(() => store.renew(jobs, leaseMs))).map(({ id }) => id));
    const isRefused = ({ job }: WorkerClaim): boolean => refused.has(job.id);
    for (const claim of due) if (!isRefused(claim)) claim.leaseEnds = now + leaseMs;
    return [...ended, ...due.filter(isRefused)];
  }

  add(job: ClaimedJob, leaseEnds: number): void {
    this.ready.set(job.id, { job, leaseEnds, control: new AbortController(), done: Promise.resolve() });
  }

  /** Moves the next claim to the running ones. */
  startNext(): WorkerClaim | undefined {
    const next = this.ready.values().next().value;
    if (next === undefined) return undefined;
    this.ready.delete(next.job.id);
    this.running.set(next.job.id, next);
    return next;
  }

  isRunning(claim: WorkerClaim): boolean {
    return this.running.get(claim.job.id) === claim;
  }

  /** After a lost lease the entry may be another claim of the same job, which stays. */
  remove(claim: WorkerClaim): void {
    for (const claims of [this.ready, this.running])
      if (claims.get(claim.job.id) === claim) claims.delete(claim.job.id);
  }

  /** Removes the claims that do not run. */
  takeReady(): readonly ClaimedJob[] {
    const jobs = [...this.ready.values()].map(({ job }) => job);
    this.ready.clear();
    return jobs;
  }

  runningClaims(): readonly WorkerClaim[] {
    return [...this.running.values()];
  }

  /** Removes the claims that run. */
  takeRunning(): readonly ClaimedJob[] {
    const jobs = this.runningClaims().map(({ job }) => job);
    this.running.clear();
    return jobs;
  }
}

export interface RepeatedStep {
  readonly clock: Clock;
  readonly isActive: () => boolean;
  readonly failed: (error: unknown) => void;
}

/** Repeats a step while the store fails and the claim is valid. Returns `undefined` if the claim has ended. */
export async function repeatStep<T>(
  claim: WorkerClaim,
  { clock, isActive, failed }: RepeatedStep,
  step: () => Promise<T>,
): Promise<T | undefined> {
  while (isActive() && clock.monotonic() < claim.leaseEnds) {
    try {
      return await step();
    } catch (error) {
      failed(error);
      await sleep(clock, PAUSE_MS);
    }
  }
  return undefined;
}
