/**
 * The worker loop of one process over a `JobStore`: it claims jobs while it has capacity, runs them, and reports their outcomes. It
 * regularly renews its leases and reaps the jobs of processes that died (`../stores/database/dead-workers.ts`). `Jobs` starts and stops it.
 */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { DrainDeadlineError } from "../../errors/framework-error.js";
import { within, type Timer } from "../../runtime/clock.js";
import { FinishedRuns } from "./finished-runs.js";
import { DEAD_AFTER_MS, Heartbeats } from "./heartbeats.js";
import { type WorkerClaim, WorkerClaims } from "./worker-claims.js";
import { handleJob, type JobOutcome, type JobTools } from "./handled-job.js";
import { JobCancelledError, JobLeaseLostError } from "../job-context.js";
import type { WorkerSettings } from "../job-engine.js";
import type { JobReports } from "../job-reports.js";
import type { ClaimedJob, Heartbeat, JobStore, LiveWorker } from "../job-store.js";
import { PollTimer } from "./poll-timer.js";
import { runQuietly } from "./quiet.js";
import { StartMarks } from "./start-marks.js";
import { UnknownClaims } from "./unknown-claims.js";

/** A claim ends after this time unless it is renewed. */
const LEASE_MS = 300_000;
/** The longest time between two runs of the upkeep, which renews leases and looks for the jobs of dead workers. */
const UPKEEP_MS = 10_000;
/** The grace period in which a handler may react to its signal, after the deadline of the drain. */
const GRACE_MS = 1000;
/** The limit of completed jobs that the store does not know of yet. Above it no further job is claimed. */
const MAX_PENDING = 1000;

export class StoreWorker {
  private id: string = randomUUID();
  private readonly claims = new WorkerClaims();
  private readonly finished: FinishedRuns;
  private readonly heartbeats: Heartbeats;
  private readonly marks: StartMarks;
  private isClaiming = false;
  /** Settles when the last claim has settled. While the worker stops, the jobs of that claim are released first. */
  private claiming: Promise<void> = Promise.resolve();
  private isStopping = false;
  /** The store has acknowledged a heartbeat of this id. It treats the jobs of an unknown worker as those of a dead one. */
  private isRecorded = false;
  /** The last claim failed, or found fewer jobs than its limit. The next claim waits for the poll or for a wake-up. */
  private waitsForPoll = false;
  /** A wake-up came during a claim, which may have missed the job. */
  private wasWoken = false;
  private readonly poll: PollTimer;
  private upkeepTimer: Timer | undefined;
  private isStopped = false;
  private readonly unknownClaims: UnknownClaims;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly settings: WorkerSettings,
    private readonly tools: JobTools,
    private readonly reports: JobReports,
  ) {
    const sent = (): void => this.claimMore();
    this.finished = new FinishedRuns({ store, clock: tools.clock, reports, freed: this.wake, sent });
    this.poll = new PollTimer(tools.clock, this.wake);
    const failed = (error: unknown): void => reports.storeFailed("markStarted", error);
    this.marks = new StartMarks({ store, clock: tools.clock, failed });
    const released = (jobs: number): void => reports.releasedUnknown(jobs);
    this.unknownClaims = new UnknownClaims({ store, clock: tools.clock, released }, LEASE_MS);
    this.heartbeats = new Heartbeats({
      store,
      clock: tools.clock,
      live: () => this.live,
      received: (heartbeat) => this.handleHeartbeat(heartbeat),
      failed: (error) => reports.storeFailed("heartbeat", error),
    });
  }

  private get live(): LiveWorker {
    return { id: this.id, names: this.tools.handlers.names, queues: this.settings.queues };
  }

  get isBusy(): boolean {
    return this.isClaiming || this.claims.size > 0 || this.finished.pending > 0;
  }

  async start(): Promise<void> {
    await this.heartbeats.start();
    this.scheduleUpkeep();
    this.stopListening = this.store.onWake?.(this.wake);
    this.claimMore();
  }

  /**
   * Called when a job may be due. The caller is the code that dispatched the job. The worker must not inherit the request and transaction
   * of that code.
   */
  readonly wake = AsyncResource.bind((): void => {
    this.waitsForPoll = false;
    this.wasWoken = this.isClaiming;
    this.claimMore();
  });

  /** Removes a job that is claimed ahead, and aborts the signal of a running one. */
  readonly cancel = (id: string): void => {
    const claim = this.claims.find(id);
    claim?.control.abort(new JobCancelledError());
    if (claim === undefined || this.claims.isRunning(claim)) return;
    this.claims.remove(claim);
    this.finished.addCancelled(claim.job);
  };

  /** Running jobs may end until the deadline. The other claimed jobs are released, and their attempt does not count. */
  async stop(deadlineMs: number): Promise<void> {
    this.isStopping = true;
    this.stopListening?.();
    this.poll.stop();
    const { clock } = this.tools;
    await this.releaseReady();
    await within(clock, deadlineMs, this.waitForRunning());
    for (const { control } of this.claims.runningClaims()) control.abort(new DrainDeadlineError());
    await within(clock, GRACE_MS, this.waitForRunning());
    await this.release(this.claims.takeRunning());
    await this.finished.flush(GRACE_MS);
    this.isStopped = true;
    this.upkeepTimer?.cancel();
    await this.heartbeats.stop();
    await this.leave();
  }

  private async leave(): Promise<void> {
    try {
      await this.unknownClaims.release(this.id, () => []);
      await this.store.leave(this.id);
    } catch (error) {
      this.reports.storeFailed("leave", error);
    }
  }

  private async waitForRunning(): Promise<void> {
    await Promise.all([this.claiming, ...this.claims.runningClaims().map(({ done }) => done)]);
  }

  private async releaseReady(): Promise<void> {
    await this.release(this.claims.takeReady());
  }

  private async release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.store.release(jobs).catch((error: unknown) => this.reports.storeFailed("release", error));
    this.reports.returned(jobs);
  }

  private claimMore(): void {
    if (this.isClaiming || this.isStopping || this.waitsForPoll || !this.isRecorded) return;
    const { concurrency, prefetch } = this.settings;
    const places = concurrency + prefetch - this.claims.size;
    if (this.finished.pending > MAX_PENDING) return;
    // While claimed jobs are ready, a claim for a single job is not worth its round trip.
    if (places <= 0 || (this.claims.readySize > 0 && places < prefetch / 2)) return;
    const { limit, except } = this.claims.getCapacity(places, this.settings.queueLimits);
    this.isClaiming = true;
    this.claiming = this.claim(limit, except);
  }

  private async claim(limit: number, except: readonly string[]): Promise<void> {
    try {
      await this.releaseUnknown();
      this.wasWoken = false;
      const worker = this.id;
      const request = { worker, queues: this.settings.queues, except, limit, leaseMs: LEASE_MS };
      const jobs = await runQuietly(() => this.store.claim(request));
      this.poll.succeeded();
      this.waitsForPoll = jobs.length < limit && !this.wasWoken;
      if (worker === this.id) this.take(jobs);
      else this.reports.lost(jobs);
    } catch (error) {
      this.poll.failed();
      this.waitsForPoll = true;
      this.unknownClaims.recordUnknown();
      this.reports.storeFailed("claim", error);
    }
    await this.afterClaim();
  }

  private async afterClaim(): Promise<void> {
    this.isClaiming = false;
    if (this.isStopping) await this.releaseReady();
    this.startReady();
    if (!this.waitsForPoll) this.claimMore();
    else if (!this.isStopping) this.poll.start();
  }

  private releaseUnknown(): Promise<void> {
    const known = () => [...this.claims.jobs(), ...this.finished.claims];
    return this.unknownClaims.release(this.id, known);
  }

  private take(jobs: readonly ClaimedJob[]): void {
    const leaseEnds = this.tools.clock.monotonic() + LEASE_MS;
    for (const job of jobs) {
      // The store has reaped the job, and this process has claimed it again, before this process noticed the loss.
      const lost = this.claims.find(job.id);
      if (lost !== undefined) this.lose(lost);
      this.claims.add(job, leaseEnds);
    }
  }

  private startReady(): void {
    while (this.claims.runningSize < this.settings.concurrency) {
      const next = this.claims.startNext();
      if (next === undefined) return;
      next.done = this.run(next);
    }
  }

  private async run(next: WorkerClaim): Promise<void> {
    const { job } = next;
    const isLast = job.attempt >= job.maxAttempts && this.tools.handlers.find(job.name) !== undefined;
    if (!isLast || (await this.marks.mark(next)))
      return this.finishRun(next, await handleJob(job, this.tools, next.control));
    // While the worker stops, the claim is released with the running ones.
    if (this.claims.isRunning(next) && !(next.control.signal.reason instanceof DrainDeadlineError)) this.lose(next);
    this.claimMore();
  }

  private async finishRun(running: WorkerClaim, outcome: JobOutcome): Promise<void> {
    const { job } = running;
    if (!this.claims.isRunning(running)) return;
    // `stop` releases all returned jobs in one step.
    if (outcome.kind === "returned") return;
    const reported = this.finished.add(running, outcome, () => this.claims.isRunning(running));
    if (reported !== undefined) await reported;
    this.claims.remove(running);
    // The last claim left out the queue, or other jobs of the key.
    if (this.settings.queueLimits?.has(job.queue) === true || job.concurrency !== undefined) this.waitsForPoll = false;
    this.startReady();
    // One claim fills the places of all jobs that end in the same iteration of the event loop.
    await Promise.resolve();
    this.claimMore();
  }

  private async handleHeartbeat({ isKnown, cancelled }: Heartbeat): Promise<void> {
    if (!isKnown) await this.renewId();
    this.isRecorded = true;
    this.claimMore();
    for (const { id, token } of cancelled) if (this.claims.find(id)?.job.token === token) this.cancel(id);
  }

  private scheduleUpkeep(): void {
    if (this.isStopped) return;
    const jitter = 0.8 + Math.random() * 0.2;
    this.upkeepTimer = this.tools.clock.setTimeout(() => void this.runUpkeep(), UPKEEP_MS * jitter);
  }

  private async runUpkeep(): Promise<void> {
    try {
      await this.renewLeases();
      if (!this.isClaiming && this.unknownClaims.mayExist) {
        this.isClaiming = true;
        await this.releaseUnknown().finally(() => (this.isClaiming = false));
      }
      if (this.heartbeats.mayReap) this.reports.reaped(await runQuietly(() => this.store.reap(DEAD_AFTER_MS)));
      this.reports.setUnhandledGauge(await runQuietly(() => this.store.unhandled()));
    } catch (error) {
      this.reports.storeFailed("upkeep", error);
    }
    this.claimMore();
    this.scheduleUpkeep();
  }

  private async renewLeases(): Promise<void> {
    for (const claim of await this.claims.renew(this.store, this.tools.clock.monotonic(), LEASE_MS)) this.lose(claim);
  }

  /**
   * Called when other processes have declared this worker dead. They also reap the jobs that it has claimed since then under the old id.
   */
  private async renewId(): Promise<void> {
    const old = this.id;
    this.id = randomUUID();
    this.isRecorded = false;
    await this.store.heartbeat(this.live);
    await this.store.leave(old);
    for (const claim of this.claims.all()) this.lose(claim);
    this.wake();
  }

  private lose(claim: WorkerClaim): void {
    this.claims.remove(claim);
    this.reports.lost([claim.job]);
    claim.control.abort(new JobLeaseLostError());
    this.startReady();
  }
}
