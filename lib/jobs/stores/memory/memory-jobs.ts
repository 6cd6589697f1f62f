/**
 * The jobs in the memory of the process: for tests, with the clock of the application, and for programs whose jobs may be lost with the
 * process.
 *
 * Not for jobs that must run: those wait in the database.
 *
 * @example
 * provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }));
 */
import { UnavailableError } from "../../../errors/framework-error.js";
import type { SubsystemHost } from "../../../lifecycle/operations.js";
import type { PerProcess, ProcessState } from "../../../lifecycle/process-state.js";
import { type Clock, SystemClock } from "../../../runtime/clock.js";
import { MAX_AHEAD_MS } from "../database/job-ticks.js";
import { checkJobOption } from "../../job.js";
import { countUnhandled, MemoryAdmin, orderJobs } from "./memory-admin.js";
import type { JobAdmin } from "../../job-admin.js";
import { MemorySlots, type StoredJob, toWaiting, WaitingJobs } from "./memory-waiting.js";
import { MemoryWorkers } from "./memory-workers.js";
import {
  type ClaimedJob,
  type ClaimRequest,
  WORKER_DIED,
  type DeadJob,
  type Dispatched,
  type Heartbeat,
  type JobClaim,
  type JobCounts,
  type JobFailure,
  type JobStore,
  type LiveWorker,
  MAX_COUNTED,
  type NewJob,
  type ReapedJob,
  UNHANDLED,
  type UnhandledJobs,
} from "../../job-store.js";

export interface MemoryJobsOptions {
  /** The clock of the application unless set. */
  readonly clock?: Clock;
  /** The maximum number of jobs, dead letters included; 100 000 unless set. A dispatch above it is refused with 503. */
  readonly maxJobs?: number;
}

const IN_MEMORY: ProcessState = {
  what: "jobs are in memory",
  fix: "keep them in a database, or in Redis with BullJobs",
};

const DEFAULT_JOBS = 100_000;
const MAX_UNHANDLED_MS = 86_400_000;

export class MemoryJobs implements JobStore, PerProcess {
  readonly perProcess: ProcessState | undefined = IN_MEMORY;
  readonly joinsTransactions = false;
  private readonly fixedClock: Clock | undefined;
  private clock: Clock;
  private readonly maxJobs: number;
  private readonly jobs = new Map<string, StoredJob>();
  private readonly waiting = new WaitingJobs();
  private readonly workers = new MemoryWorkers();
  readonly admin: JobAdmin;
  private readonly memoryAdmin: MemoryAdmin;
  private readonly ticks = new Map<string, number>();
  private readonly listeners = new Set<() => void>();

  /** @throws FrameworkError `E_JOB_OPTION` */
  constructor(options: MemoryJobsOptions = {}) {
    this.fixedClock = options.clock;
    this.clock = options.clock ?? new SystemClock();
    this.memoryAdmin = new MemoryAdmin(this.jobs, this.waiting, this.clock);
    this.admin = this.memoryAdmin;
    this.maxJobs = checkJobOption("maxJobs", options.maxJobs ?? DEFAULT_JOBS, 1, Number.MAX_SAFE_INTEGER);
  }

  prepare({ clock }: Pick<SubsystemHost, "clock">): void {
    this.clock = this.fixedClock ?? clock;
  }

  async add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    return this.addNow(jobs);
  }

  async claim({ worker, queues, except = [], limit, leaseMs }: ClaimRequest): Promise<readonly ClaimedJob[]> {
    const now = this.clock.now();
    const slots = new MemorySlots(this.jobs.values());
    const taken = this.waiting.take(
      limit,
      (job) =>
        job.due <= now &&
        (queues?.includes(job.queue) ?? true) &&
        !except.includes(job.queue) &&
        !this.memoryAdmin.isPaused(job.queue) &&
        slots.take(job),
    );
    for (const job of taken) {
      Object.assign(job, { state: "running", worker, leasedUntil: now + leaseMs });
      job.token += 1;
      job.attempt += 1;
    }
    return taken.map((job) => ({ ...job }));
  }

  async markStarted(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    return this.change(claims, (job) => (job.startedToken = job.token));
  }

  async complete(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    return this.change(claims, ({ id }) => this.jobs.delete(id));
  }

  async fail(claim: JobClaim, { reason, retryInMs }: JobFailure): Promise<boolean> {
    const job = this.findClaimed(claim);
    if (job === undefined) return false;
    if (retryInMs === undefined) this.deadLetter(job, reason);
    else this.requeue(job, this.clock.now() + retryInMs);
    return true;
  }

  async release(claims: readonly JobClaim[]): Promise<void> {
    this.releaseAll(claims, 0);
    this.wake();
  }

  async releaseUnknown(worker: string, known: readonly JobClaim[]): Promise<number> {
    const tokens = new Map(known.map(({ id, token }) => [id, token]));
    const unknownClaims = [...this.jobs.values()].filter(
      (job) => job.state === "running" && job.worker === worker && tokens.get(job.id) !== job.token,
    );
    await this.release(unknownClaims);
    return unknownClaims.length;
  }

  async waitUnhandled(claims: readonly JobClaim[], delayMs: number): Promise<void> {
    const since = new Map(claims.map(({ id }) => [id, this.jobs.get(id)?.unhandledSince]));
    for (const job of this.releaseAll(claims, delayMs)) job.unhandledSince = since.get(job.id) ?? this.clock.now();
  }

  async unhandled(): Promise<readonly UnhandledJobs[]> {
    return countUnhandled(this.jobs.values());
  }

  async renew(claims: readonly JobClaim[], leaseMs: number): Promise<readonly JobClaim[]> {
    return this.change(claims, (job) => (job.leasedUntil = this.clock.now() + leaseMs));
  }

  async heartbeat(worker: LiveWorker): Promise<Heartbeat> {
    const isKnown = this.workers.heartbeat(worker, this.clock.now());
    const cancelled = [...this.jobs.values()].filter((job) => job.isCancelled && job.worker === worker.id);
    return { isKnown, cancelled };
  }

  async leave(worker: string): Promise<void> {
    this.workers.leave(worker);
  }

  async reap(deadAfterMs: number): Promise<readonly ReapedJob[]> {
    const now = this.clock.now();
    this.workers.forgetSilent(now, deadAfterMs);
    const all = [...this.jobs.values()];
    const lost = all.filter(
      ({ state, worker, leasedUntil }) => state === "running" && (leasedUntil <= now || !this.workers.isLiving(worker)),
    );
    const reaped = lost.map((job) => this.reapJob(job, now));
    for (const job of all.filter((each) => this.isUnhandled(each, now))) {
      this.deadLetter(job, UNHANDLED);
      reaped.push(toReapedJob(job));
    }
    if (reaped.length > 0) this.wake();
    return reaped;
  }

  async tick(schedule: string, due: number, job: NewJob | undefined): Promise<boolean> {
    if ((this.getLastTick(schedule) ?? -Infinity) >= due) return false;
    if (job !== undefined) this.addNow([job]);
    this.ticks.set(schedule, due);
    return true;
  }

  async lastTick(schedule: string): Promise<number | undefined> {
    return this.getLastTick(schedule);
  }

  async now(): Promise<number> {
    return this.clock.now();
  }

  async dead(limit: number): Promise<readonly DeadJob[]> {
    return orderJobs([...this.jobs.values()], "dead")
      .slice(0, limit)
      .map(({ id, name, queue, attempt, reason, diedAt }) => ({ id, name, queue, attempt, reason, diedAt }));
  }

  async retry(id: string): Promise<boolean> {
    const job = this.jobs.get(id);
    if (job?.state !== "dead") return false;
    job.attempt = 0;
    this.requeue(job, this.clock.now());
    this.wake();
    return true;
  }

  async counts(): Promise<JobCounts> {
    const counts = { waiting: 0, running: 0, dead: 0 };
    for (const { state } of this.jobs.values()) counts[state] = Math.min(counts[state] + 1, MAX_COUNTED);
    return counts;
  }

  onWake(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private addNow(jobs: readonly NewJob[]): readonly Dispatched[] {
    if (this.jobs.size + jobs.length > this.maxJobs)
      throw new UnavailableError(`The queue in memory has its maximum of ${this.maxJobs} jobs.`, {
        code: "E_JOBS_FULL",
      });
    const results = jobs.map((job) => this.addOne(job));
    this.wake();
    return results;
  }

  private getLastTick(schedule: string): number | undefined {
    const last = this.ticks.get(schedule);
    return last !== undefined && last <= this.clock.now() + MAX_AHEAD_MS ? last : undefined;
  }

  private addOne({ delayMs, ...job }: NewJob): Dispatched {
    const due = this.clock.now() + delayMs;
    const other = this.findWithKey(job);
    if (other !== undefined && job.unique === "until-done") return { outcome: "kept", id: other.id };
    if (other !== undefined) {
      this.waiting.remove(other);
      const { payload, queue, priority, maxAttempts, requestId, traceparent, tracestate, concurrency } = job;
      Object.assign(other, { payload, queue, priority, maxAttempts, requestId, traceparent, tracestate, concurrency });
      this.addWaiting(other, Math.min(other.due, due));
      return { outcome: "replaced", id: other.id };
    }
    this.addWaiting(toWaiting(job, due), due);
    return { outcome: "created", id: job.id };
  }

  /** Finds the job that prevents a new job with the same key. */
  private findWithKey({ name, key, unique }: Pick<NewJob, "name" | "key" | "unique">): StoredJob | undefined {
    if (key === undefined) return undefined;
    for (const job of this.jobs.values()) {
      if (job.name !== name || job.key !== key) continue;
      if (job.state === "waiting" || (job.state === "running" && unique === "until-done")) return job;
    }
    return undefined;
  }

  private findClaimed({ id, token }: JobClaim): StoredJob | undefined {
    const job = this.jobs.get(id);
    return job?.state === "running" && job.token === token ? job : undefined;
  }

  /** Returns the claims that have ended. */
  private change(claims: readonly JobClaim[], change: (job: StoredJob) => unknown): readonly JobClaim[] {
    return claims.filter((claim) => {
      const job = this.findClaimed(claim);
      if (job !== undefined) change(job);
      return job === undefined;
    });
  }

  /** Returns the jobs that wait again. */
  private releaseAll(claims: readonly JobClaim[], delayMs: number): readonly StoredJob[] {
    const released = claims.flatMap((claim) => this.findClaimed(claim) ?? []);
    for (const job of released) {
      job.attempt -= 1;
      this.requeue(job, this.clock.now() + delayMs);
    }
    return released;
  }

  private isUnhandled({ state, name, queue, unhandledSince = Infinity }: StoredJob, now: number): boolean {
    return state === "waiting" && unhandledSince < now - MAX_UNHANDLED_MS && !this.workers.hasHandler(name, queue);
  }

  private reapJob(job: StoredJob, now: number): ReapedJob {
    const isLast = job.attempt >= job.maxAttempts;
    if (isLast && job.startedToken === job.token) this.deadLetter(job, WORKER_DIED);
    else {
      if (isLast) job.attempt -= 1;
      this.requeue(job, now);
    }
    return { ...toReapedJob(job), reason: WORKER_DIED };
  }

  private deadLetter(job: StoredJob, reason: string): void {
    this.waiting.remove(job);
    Object.assign(job, { state: "dead", isCancelled: false, reason, diedAt: this.clock.now(), worker: undefined });
  }

  /**
   * A waiting job with the same key has the newer payload, so the older job is dropped. A job whose cancellation was requested is dropped
   * as well.
   */
  private requeue(job: StoredJob, due: number): void {
    if (job.isCancelled || this.findWithKey({ ...job, unique: "waiting" }) !== undefined) this.jobs.delete(job.id);
    else this.addWaiting(job, due);
  }

  private addWaiting(job: StoredJob, due: number): void {
    Object.assign(job, { state: "waiting", worker: undefined, unhandledSince: undefined, due });
    this.jobs.set(job.id, job);
    this.waiting.add(job);
  }

  private wake(): void {
    for (const listener of this.listeners) listener();
  }
}

function toReapedJob({ id, name, queue, attempt, state, reason }: StoredJob): ReapedJob {
  return { id, name, queue, attempt, isDead: state === "dead", reason };
}
