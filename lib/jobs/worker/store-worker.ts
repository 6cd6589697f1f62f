/**
 * The loop of one process over a `JobStore`: claims jobs as places become free, runs them, reports how they ended, and regularly renews its
 * leases and takes the jobs of processes that died.
 *
 * Internal: `Jobs` begins and ends it.
 */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { DrainDeadlineError } from "../../errors/framework-error.js";
import { within, type Timer } from "../../runtime/clock.js";
import { BatchedClaims, type BatchSteps } from "./batched-claims.js";
import { Heartbeats } from "./heartbeats.js";
import { type HeldClaim, HeldClaims, repeatStep } from "./held-claims.js";
import { handleJob, type JobOutcome, type JobTools } from "./handled-job.js";
import { JobCancelledError, JobLeaseLostError } from "../job-context.js";
import type { WorkerSettings } from "../job-engine.js";
import type { JobReports } from "../job-reports.js";
import type { ClaimedJob, Heartbeat, JobStore, LiveWorker } from "../job-store.js";
import { PollTimer } from "./poll-timer.js";
import { quietly } from "./quiet.js";
import { StartMarks } from "./start-marks.js";
import { UnhandledPauses } from "./unhandled-pauses.js";
import { UnheldClaims } from "./unheld-claims.js";

/** A claim ends after this time unless it is renewed. */
const LEASE_MS = 300_000;
const UPKEEP_MS = 10_000;
const DEAD_AFTER_MS = 30_000;
/** The time that a handler has to react to its signal after the deadline of the drain. */
const GRACE_MS = 1000;
/** The limit of completed jobs that the store does not know of yet. Above it no further job is claimed. */
const MAX_PENDING = 1000;

export class StoreWorker {
  private id: string = randomUUID();
  private readonly held = new HeldClaims();
  private readonly completions: BatchedClaims;
  private readonly unhandled: BatchedClaims;
  private readonly heartbeats: Heartbeats;
  private readonly marks: StartMarks;
  private isClaiming = false;
  /** Settles when the last claim has, and its jobs have gone back if the process ends. */
  private claiming: Promise<void> = Promise.resolve();
  private isEnding = false;
  /** The store has answered a heartbeat of this id. It takes the jobs of an unknown worker for those of a dead one. */
  private isRecorded = false;
  /** The last claim found fewer jobs than there were places. */
  private isDry = false;
  /** A wake-up came during a claim, which may have missed the job. */
  private wasWoken = false;
  private readonly poll: PollTimer;
  private upkeepTimer: Timer | undefined;
  private isOver = false;
  private readonly unheld: UnheldClaims;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly settings: WorkerSettings,
    private readonly tools: JobTools,
    private readonly reports: JobReports,
  ) {
    this.completions = this.batched("complete", async (claims) => {
      const lost = await store.complete(claims);
      // Other jobs of its key may be claimed now.
      if (claims.some(({ concurrency }) => concurrency !== undefined)) this.wake();
      return lost;
    });
    const pauses = new UnhandledPauses(tools.clock);
    this.unhandled = this.batched("waitUnhandled", (some) => store.waitUnhandled(some, pauses.next(some.length)));
    this.poll = new PollTimer(tools.clock, this.wake);
    const failed = (error: unknown): void => reports.storeFailed("markStarted", error);
    this.marks = new StartMarks({ store, clock: tools.clock, failed });
    const released = (jobs: number): void => reports.releasedUnheld(jobs);
    this.unheld = new UnheldClaims({ store, clock: tools.clock, released }, LEASE_MS);
    this.heartbeats = new Heartbeats({
      store,
      clock: tools.clock,
      live: () => this.live,
      heard: (heartbeat) => this.heard(heartbeat),
      failed: (error) => reports.storeFailed("heartbeat", error),
    });
  }

  private get live(): LiveWorker {
    return { id: this.id, names: this.tools.handlers.names, queues: this.settings.queues };
  }

  private batched(step: string, send: BatchSteps["send"]): BatchedClaims {
    return new BatchedClaims(this.tools.clock, {
      send,
      lost: (claims) => this.reports.lost(claims),
      failed: (error) => this.reports.storeFailed(step, error),
      sent: () => this.claimMore(),
    });
  }

  async begin(): Promise<void> {
    await this.heartbeats.start();
    this.keepUpLater();
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

  /** A job that is claimed ahead is removed, and one that runs ends by its signal. */
  readonly cancel = (id: string): void => {
    const claim = this.held.find(id);
    claim?.control.abort(new JobCancelledError());
    if (claim === undefined || this.held.isRunning(claim)) return;
    this.held.remove(claim);
    this.completions.add(claim.job);
    this.reports.cancelled(claim.job);
  };

  /** Jobs that run may end until the deadline. The other claimed jobs are returned to the store, and their attempt does not count. */
  async end(deadlineMs: number): Promise<void> {
    this.isEnding = true;
    this.stopListening?.();
    this.poll.stop();
    const { clock } = this.tools;
    await this.releaseReady();
    await within(clock, deadlineMs, this.settled());
    for (const { control } of this.held.runningClaims()) control.abort(new DrainDeadlineError());
    await within(clock, GRACE_MS, this.settled());
    await this.release(this.held.takeRunning());
    await Promise.all([this.completions.flush(GRACE_MS), this.unhandled.flush(GRACE_MS)]);
    this.isOver = true;
    this.upkeepTimer?.cancel();
    await this.heartbeats.stop();
    await this.leave();
  }

  private async leave(): Promise<void> {
    try {
      await this.unheld.release(this.id, () => []);
      await this.store.leave(this.id);
    } catch (error) {
      this.reports.storeFailed("leave", error);
    }
  }

  private async settled(): Promise<void> {
    await Promise.all([this.claiming, ...this.held.runningClaims().map(({ done }) => done)]);
  }

  private async releaseReady(): Promise<void> {
    await this.release(this.held.takeReady());
  }

  private async release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.store.release(jobs).catch((error: unknown) => this.reports.storeFailed("release", error));
    this.reports.returned(jobs);
  }

  private claimMore(): void {
    if (this.isClaiming || this.isEnding || this.isDry || !this.isRecorded) return;
    const { concurrency, prefetch } = this.settings;
    const places = concurrency + prefetch - this.held.size;
    if (this.completions.pending + this.unhandled.pending > MAX_PENDING) return;
    // While claimed jobs are left, a claim for a single place is not worth its round trip.
    if (places <= 0 || (this.held.readySize > 0 && places < prefetch / 2)) return;
    const { limit, except } = this.held.room(places, this.settings.queueLimits);
    this.isClaiming = true;
    this.claiming = this.claim(limit, except);
  }

  private async claim(limit: number, except: readonly string[]): Promise<void> {
    try {
      await this.releaseUnheld();
      this.wasWoken = false;
      const worker = this.id;
      const request = { worker, queues: this.settings.queues, except, limit, leaseMs: LEASE_MS };
      const jobs = await quietly(() => this.store.claim(request));
      this.poll.succeeded();
      this.isDry = jobs.length < limit && !this.wasWoken;
      if (worker === this.id) this.take(jobs);
      else this.reports.lost(jobs);
    } catch (error) {
      this.poll.failed();
      this.isDry = true;
      this.unheld.note();
      this.reports.storeFailed("claim", error);
    }
    await this.claimed();
  }

  private async claimed(): Promise<void> {
    this.isClaiming = false;
    if (this.isEnding) await this.releaseReady();
    this.startReady();
    if (!this.isDry) this.claimMore();
    else if (!this.isEnding) this.poll.start();
  }

  private releaseUnheld(): Promise<void> {
    const known = () => [
      ...this.held.all().map(({ job }) => job),
      ...this.completions.claims,
      ...this.unhandled.claims,
    ];
    return this.unheld.release(this.id, known);
  }

  private take(jobs: readonly ClaimedJob[]): void {
    const leaseEnds = this.tools.clock.monotonic() + LEASE_MS;
    for (const job of jobs) {
      // The store took the job from this process, and gave it back, before this process knew.
      const lost = this.held.find(job.id);
      if (lost !== undefined) this.lose(lost);
      this.held.add(job, leaseEnds);
    }
  }

  private startReady(): void {
    while (this.held.runningSize < this.settings.concurrency) {
      const next = this.held.startNext();
      if (next === undefined) return;
      next.done = this.run(next);
    }
  }

  private async run(next: HeldClaim): Promise<void> {
    const { job } = next;
    const isLast = job.attempt >= job.maxAttempts && this.tools.handlers.of(job.name) !== undefined;
    if (!isLast || (await this.marks.mark(next)))
      return this.ended(next, await handleJob(job, this.tools, next.control));
    // At the end of the process the claim is released with the running ones.
    if (this.held.isRunning(next) && !(next.control.signal.reason instanceof DrainDeadlineError)) this.lose(next);
    this.claimMore();
  }

  private async ended(running: HeldClaim, outcome: JobOutcome): Promise<void> {
    const { job } = running;
    if (!this.held.isRunning(running)) return;
    // The end of the process returns all of them in one step.
    if (outcome.kind === "returned") return;
    if (outcome.kind === "cancelled") this.reports.cancelled(job);
    if (outcome.kind === "unhandled") {
      this.reports.unhandled(job);
      this.unhandled.add(job);
    } else if (outcome.kind === "done" || outcome.kind === "cancelled") this.completions.add(job);
    else await this.reportFailure(running, outcome);
    this.held.remove(running);
    // The last claim left out the queue, or other jobs of the key.
    if (this.settings.queueLimits?.has(job.queue) === true || job.concurrency !== undefined) this.isDry = false;
    this.startReady();
    // Jobs that end in the same turn of the event loop leave their places to one claim.
    await Promise.resolve();
    this.claimMore();
  }

  /** Repeated while the store fails: the attempt has been made, and counts. */
  private async reportFailure(
    running: HeldClaim,
    outcome: Extract<JobOutcome, { kind: "failed" | "dead" }>,
  ): Promise<void> {
    const { job } = running;
    const retryInMs = outcome.kind === "failed" ? outcome.retryInMs : undefined;
    const step = {
      clock: this.tools.clock,
      isHeld: () => this.held.isRunning(running),
      failed: (error: unknown) => this.reports.storeFailed("fail", error),
    };
    const isKept = await repeatStep(running, step, () => this.store.fail(job, { reason: outcome.reason, retryInMs }));
    if (isKept === true) this.reports.failed(job, outcome);
    else if (isKept === false) this.reports.lost([job]);
  }

  private async heard({ isKnown, cancelled }: Heartbeat): Promise<void> {
    if (!isKnown) await this.beginAnew();
    this.isRecorded = true;
    this.claimMore();
    for (const { id, token } of cancelled) if (this.held.find(id)?.job.token === token) this.cancel(id);
  }

  private keepUpLater(): void {
    if (this.isOver) return;
    const jitter = 0.8 + Math.random() * 0.2;
    this.upkeepTimer = this.tools.clock.setTimeout(() => void this.keepUp(), UPKEEP_MS * jitter);
  }

  private async keepUp(): Promise<void> {
    try {
      await this.renewLeases();
      if (!this.isClaiming && this.unheld.mayExist) {
        this.isClaiming = true;
        await this.releaseUnheld().finally(() => (this.isClaiming = false));
      }
      if (this.heartbeats.mayJudge) this.reports.reaped(await quietly(() => this.store.reap(DEAD_AFTER_MS)));
      this.reports.waitUnhandled(await quietly(() => this.store.unhandled()));
    } catch (error) {
      this.reports.storeFailed("upkeep", error);
    }
    this.claimMore();
    this.keepUpLater();
  }

  private async renewLeases(): Promise<void> {
    for (const claim of await this.held.renew(this.store, this.tools.clock.monotonic(), LEASE_MS)) this.lose(claim);
  }

  /** Other processes took this one for dead. They also get the jobs that it has claimed since under the old name. */
  private async beginAnew(): Promise<void> {
    const old = this.id;
    this.id = randomUUID();
    this.isRecorded = false;
    await this.store.heartbeat(this.live);
    await this.store.leave(old);
    for (const claim of this.held.all()) this.lose(claim);
    this.wake();
  }

  private lose(claim: HeldClaim): void {
    this.held.remove(claim);
    this.reports.lost([claim.job]);
    claim.control.abort(new JobLeaseLostError());
    this.startReady();
  }
}
