/**
 * The loop of one process over a `JobStore`: claims jobs as places become free, runs them, reports how they ended, reports regularly that
 * the process is alive, and takes the jobs of processes that died.
 *
 * Internal: `Jobs` begins and ends it.
 */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { DrainDeadlineError } from "../errors/framework-error.js";
import { within, type Timer } from "../runtime/clock.js";
import { Completions } from "./completions.js";
import { handleJob, type JobOutcome, type JobTools } from "./handled-job.js";
import { JobLeaseLostError } from "./job-context.js";
import type { JobReports } from "./job-reports.js";
import type { ClaimedJob, JobStore, LiveWorker } from "./job-store.js";
import { quietly } from "./quiet.js";

/** A claim ends after this time unless it is renewed. */
const LEASE_MS = 300_000;
const BEAT_MS = 10_000;
const DEAD_AFTER_MS = 30_000;
const POLL_MS = 1000;
const LONGEST_POLL_MS = 30_000;
/** The time that a handler has to react to its signal after the deadline of the drain. */
const GRACE_MS = 1000;
/** The limit of completed jobs that the store does not know of yet. Above it no further job is claimed. */
const MOST_UNTOLD = 1000;

export interface WorkerSettings {
  /** The most jobs at once. */
  readonly concurrency: number;
  /** Jobs that are claimed ahead. */
  readonly prefetch: number;
  readonly queues: readonly string[] | undefined;
}

interface RunningClaim {
  readonly job: ClaimedJob;
  readonly control: AbortController;
  leaseEnds: number;
  /** Settles when the handler has settled. */
  done: Promise<void>;
}

export class StoreWorker {
  private id: string = randomUUID();
  private readonly running = new Map<string, RunningClaim>();
  /** Jobs that are claimed and do not run yet, in their order. */
  private readonly ready = new Map<string, RunningClaim>();
  private readonly completions: Completions;
  private isClaiming = false;
  /** Settles when the last claim has, and its jobs have gone back if the process ends. */
  private claiming: Promise<void> = Promise.resolve();
  private isEnding = false;
  /** The last claim found fewer jobs than there were places. */
  private isDry = false;
  /** A wake-up came during a claim, which may have missed the job. */
  private wasWoken = false;
  private failures = 0;
  private pollTimer: Timer | undefined;
  private beatTimer: Timer | undefined;
  /** No beat follows any more. */
  private isOver = false;
  private beating: Promise<void> = Promise.resolve();
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly settings: WorkerSettings,
    private readonly tools: JobTools,
    private readonly reports: JobReports,
  ) {
    this.completions = new Completions(store, tools.clock, {
      lost: (claims) => reports.lost(claims),
      failed: (error) => reports.storeFailed("complete", error),
      told: () => this.claimMore(),
    });
  }

  /** The first beat comes before the first claim: a store takes the jobs of an unknown worker for those of a dead one. */
  async begin(): Promise<void> {
    await quietly(() => this.store.heartbeat(this.live)).catch((error: unknown) =>
      this.reports.storeFailed("heartbeat", error),
    );
    await this.beat();
    this.stopListening = this.store.onWake?.(this.wake);
    this.claimMore();
  }

  /**
   * Called when a job may be due. The caller is the code that dispatched the job. The worker must not inherit the request and transaction
   * of that code.
   */
  readonly wake = AsyncResource.bind((): void => {
    this.isDry = false;
    this.wasWoken = this.isClaiming;
    this.claimMore();
  });

  /** Jobs that run may end until the deadline. The other claimed jobs are returned to the store, and their attempt does not count. */
  async end(deadlineMs: number): Promise<void> {
    this.isEnding = true;
    this.stopListening?.();
    this.pollTimer?.cancel();
    const { clock } = this.tools;
    await this.giveBackReady();
    await within(clock, deadlineMs, this.settled());
    for (const { control } of this.running.values()) control.abort(new DrainDeadlineError());
    await within(clock, GRACE_MS, this.settled());
    await this.giveBack([...this.running.values()].map(({ job }) => job));
    this.running.clear();
    await this.completions.flush(GRACE_MS);
    this.isOver = true;
    this.beatTimer?.cancel();
    await within(clock, GRACE_MS, this.beating);
    await this.store.leave(this.id).catch((error: unknown) => this.reports.storeFailed("leave", error));
  }

  /** The number of jobs that run. */
  get size(): number {
    return this.running.size;
  }

  private get live(): LiveWorker {
    return { id: this.id, names: this.tools.handlers.names, queues: this.settings.queues };
  }

  private async settled(): Promise<void> {
    await Promise.all([this.claiming, ...[...this.running.values()].map(({ done }) => done)]);
  }

  private async giveBackReady(): Promise<void> {
    const jobs = [...this.ready.values()].map(({ job }) => job);
    this.ready.clear();
    await this.giveBack(jobs);
  }

  private async giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.store.release(jobs).catch((error: unknown) => this.reports.storeFailed("release", error));
    this.reports.returned(jobs);
  }

  private claimMore(): void {
    if (this.isClaiming || this.isEnding || this.isDry) return;
    const { concurrency, prefetch } = this.settings;
    const places = concurrency + prefetch - this.running.size - this.ready.size;
    if (this.completions.pending > MOST_UNTOLD) return;
    // While claimed jobs are left, a claim for a single place is not worth its round trip.
    if (places <= 0 || (this.ready.size > 0 && places < prefetch / 2)) return;
    this.isClaiming = true;
    this.claiming = this.claim(places);
  }

  private async claim(limit: number): Promise<void> {
    try {
      this.wasWoken = false;
      const worker = this.id;
      const request = { worker, queues: this.settings.queues, limit, leaseMs: LEASE_MS };
      const jobs = await quietly(() => this.store.claim(request));
      this.failures = 0;
      this.isDry = jobs.length < limit && !this.wasWoken;
      if (worker === this.id) this.take(jobs);
      else this.reports.lost(jobs);
    } catch (error) {
      this.failures += 1;
      this.isDry = true;
      this.reports.storeFailed("claim", error);
    }
    this.isClaiming = false;
    if (this.isEnding) await this.giveBackReady();
    this.startReady();
    if (this.isDry) this.pollLater();
    else this.claimMore();
  }

  private take(jobs: readonly ClaimedJob[]): void {
    const leaseEnds = this.tools.clock.monotonic() + LEASE_MS;
    for (const job of jobs) {
      // The store took the job from this process, and gave it back, before this process knew.
      const lost = this.running.get(job.id) ?? this.ready.get(job.id);
      if (lost !== undefined) this.lose(lost);
      this.ready.set(job.id, { job, leaseEnds, control: new AbortController(), done: Promise.resolve() });
    }
  }

  /** With jitter, so that many processes do not ask at the same moment. */
  private pollLater(): void {
    if (this.isEnding) return;
    this.pollTimer?.cancel();
    const pause = Math.min(POLL_MS * 2 ** Math.min(this.failures, 10), LONGEST_POLL_MS);
    this.pollTimer = this.tools.clock.setTimeout(this.wake, pause * (0.5 + Math.random()), { isPoll: true });
  }

  private startReady(): void {
    while (this.running.size < this.settings.concurrency) {
      const next = this.ready.values().next().value;
      if (next === undefined) return;
      this.ready.delete(next.job.id);
      this.running.set(next.job.id, next);
      next.done = handleJob(next.job, this.tools, next.control).then((outcome) => this.ended(next, outcome));
    }
  }

  private async ended(running: RunningClaim, outcome: JobOutcome): Promise<void> {
    const { job } = running;
    // After a lost lease another claim may have taken this place, perhaps a claim of the same job.
    const isHeld = this.running.get(job.id) === running;
    if (!isHeld) return;
    if (outcome.kind === "done") this.completions.add(job);
    else await this.reportEnd(job, outcome);
    if (this.running.get(job.id) === running) this.running.delete(job.id);
    this.startReady();
    // Jobs that end in the same turn of the event loop leave their places to one claim.
    await Promise.resolve();
    this.claimMore();
  }

  private async reportEnd(job: ClaimedJob, outcome: Exclude<JobOutcome, { kind: "done" }>): Promise<void> {
    try {
      if (outcome.kind === "returned") {
        await this.giveBack([job]);
        return;
      }
      const { reason } = outcome;
      const retryInMs = outcome.kind === "failed" ? outcome.retryInMs : undefined;
      if (await this.store.fail(job, { reason, retryInMs })) this.reports.failed(job, outcome);
      else this.reports.lost([job]);
    } catch (error) {
      // The lease ends by itself, and the job runs again.
      this.reports.storeFailed("fail", error);
    }
  }

  private async beat(): Promise<void> {
    try {
      if (!(await quietly(() => this.store.heartbeat(this.live))).isKnown) await this.beginAnew();
      await this.renewLeases();
      this.reports.reaped(await quietly(() => this.store.reap(DEAD_AFTER_MS)));
    } catch (error) {
      this.reports.storeFailed("heartbeat", error);
    }
    if (this.isOver) return;
    const jitter = 0.8 + Math.random() * 0.2;
    const beat = (): void => {
      this.beating = this.beat();
    };
    this.beatTimer = this.tools.clock.setTimeout(beat, BEAT_MS * jitter);
  }

  private async renewLeases(): Promise<void> {
    const now = this.tools.clock.monotonic();
    for (const claim of this.claims()) if (claim.leaseEnds <= now) this.lose(claim);
    // A handler that ignored its timeout may run until the end of its lease.
    const due = this.claims().filter(
      ({ leaseEnds, control }) => leaseEnds - now < (LEASE_MS * 2) / 3 && !control.signal.aborted,
    );
    if (due.length === 0) return;
    const held = due.map(({ job }) => job);
    const refused = await quietly(() => this.store.renew(held, LEASE_MS));
    for (const running of due) {
      if (refused.some(({ id }) => id === running.job.id)) this.lose(running);
      else running.leaseEnds = now + LEASE_MS;
    }
  }

  private claims(): readonly RunningClaim[] {
    return [...this.running.values(), ...this.ready.values()];
  }

  /** Other processes took this one for dead. They also get the jobs that it has claimed since under the old name. */
  private async beginAnew(): Promise<void> {
    const old = this.id;
    this.id = randomUUID();
    await this.store.heartbeat(this.live);
    await this.store.leave(old);
    for (const claim of this.claims()) this.lose(claim);
    this.wake();
  }

  private lose(claim: RunningClaim): void {
    for (const claims of [this.ready, this.running])
      if (claims.get(claim.job.id) === claim) claims.delete(claim.job.id);
    this.reports.lost([claim.job]);
    claim.control.abort(new JobLeaseLostError());
    this.startReady();
  }
}
