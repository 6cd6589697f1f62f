/**
 * The worker loop over BullMQ. BullMQ's workers wait, lock, and find stalled jobs. The framework decides on attempts, back-off, reasons and
 * unknown names. A stalled run counts as an attempt, because each start counts.
 */
import { AsyncResource } from "node:async_hooks";
import type { Job as BullJob, Worker } from "bullmq";
import { DrainDeadlineError } from "../../errors/framework-error.js";
import { handleJob, type JobOutcome, type JobTools } from "../worker/handled-job.js";
import type { JobWorker } from "../job-engine.js";
import { JobCancelledError, JobLeaseLostError } from "../job-context.js";
import type { JobReports } from "../job-reports.js";
import { type ClaimedJob, WORKER_DIED, UNHANDLED, type UnhandledJobs } from "../job-store.js";
import type { WorkerSettings } from "../job-engine.js";
import { type Timer, within } from "../../runtime/clock.js";
import { loadBullmq } from "./bull-package.js";
import {
  type BullData,
  getUnhandledSince,
  toClaim,
  toHandled,
  toLastAttempt,
  toUncounted,
  toUnhandled,
} from "./bull-record.js";
import { SeenUnhandledJobs } from "./seen-unhandled-jobs.js";

const GRACE_MS = 1000;
const QUEUE_POLL_MS = 5000;
/** The pause before a job without a handler is offered again. */
const UNHANDLED_MS = 30_000;
const MAX_UNHANDLED_MS = 86_400_000;
/** The time between two polls for cancelled jobs. */
const CANCEL_POLL_MS = 10_000;
/** The duration of a lock of BullMQ. */
const LOCK_MS = 30_000;
/** The framework bounds the attempts, not BullMQ. */
const NO_LIMIT = 1_000_000;
/** BullMQ's errors for a lock that has ended, and for a lock that another worker holds. */
const LOST_LOCK = /^(?:Missing lock|Lock mismatch) for job ([\w-]+)\. .*moveToFinished/;

export interface BullWorkerBackend {
  /** The names of the queues that have jobs, or had some. */
  queues(): Promise<readonly string[]>;
  /** Returns the ids of the jobs whose cancellation was requested. */
  findCancelled(ids: readonly string[]): Promise<readonly string[]>;
  /** Changes the data of a job whose lock has the token. False if another worker has the lock. */
  change(job: ClaimedJob, token: string, data: BullData): Promise<boolean>;
  open(
    queue: string,
    run: (job: BullJob<BullData>, token: string) => Promise<void>,
    options: BullWorkerOptions,
  ): OpenBullWorker;
}

/** A worker of BullMQ, and the function that closes all its connections. */
export interface OpenBullWorker {
  readonly worker: Worker<BullData>;
  disconnect(): void;
}

export interface BullWorkerOptions {
  readonly concurrency: number;
  readonly maxStalledCount: number;
}

interface RunningBullJob {
  readonly job: ClaimedJob;
  readonly control: AbortController;
}

export class BullWorker implements JobWorker {
  private readonly workers = new Map<string, OpenBullWorker>();
  private readonly running = new Map<string, RunningBullJob>();
  private readonly bullmq = loadBullmq();
  private readonly unhandled: SeenUnhandledJobs;
  private timer: Timer | undefined;
  private cancelTimer: Timer | undefined;
  private isStopped = false;
  private lastRefused: string | undefined;

  constructor(
    private readonly backend: BullWorkerBackend,
    private readonly settings: WorkerSettings,
    private readonly tools: JobTools,
    private readonly reports: JobReports,
  ) {
    const report = (found: readonly UnhandledJobs[]): void => reports.setUnhandledGauge(found);
    this.unhandled = new SeenUnhandledJobs(tools.clock, 2 * UNHANDLED_MS, report);
  }

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** Without a list of queues, the worker polls for new queues. */
  async start(): Promise<void> {
    this.pollCancelled();
    await this.openAll();
  }

  cancel(id: string): void {
    this.running.get(id)?.control.abort(new JobCancelledError());
  }

  /** BullMQ wakes its workers itself; only a queue may be new. */
  readonly wake = AsyncResource.bind((): void => {
    if (this.settings.queues === undefined && !this.isStopped) void this.openAll();
  });

  async stop(deadlineMs: number): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    this.unhandled.stop();
    this.cancelTimer?.cancel();
    const { clock } = this.tools;
    const workers = [...this.workers.values()];
    const closed = Promise.all(workers.map(({ worker }) => worker.close()));
    await within(clock, deadlineMs, closed);
    for (const { control } of this.running.values()) control.abort(new DrainDeadlineError());
    await within(clock, GRACE_MS, closed);
    if (this.running.size > 0) this.reports.returned([...this.running.values()].map(({ job }) => job));
    // While Redis is down, BullMQ waits for it and reconnects without end.
    for (const worker of workers) worker.disconnect();
    await within(clock, GRACE_MS, closed);
  }

  private pollCancelled(): void {
    this.cancelTimer = this.tools.clock.setTimeout(() => {
      void this.cancelRequested();
      this.pollCancelled();
    }, CANCEL_POLL_MS);
  }

  private async cancelRequested(): Promise<void> {
    try {
      for (const id of await this.backend.findCancelled([...this.running.keys()])) this.cancel(id);
    } catch (error) {
      this.reports.storeFailed("cancel", error);
    }
  }

  private async openAll(): Promise<void> {
    this.timer?.cancel();
    try {
      for (const queue of this.settings.queues ?? (await this.backend.queues())) this.openOne(queue);
    } catch (error) {
      this.reports.storeFailed("queues", error);
    }
    if (this.settings.queues === undefined && !this.isStopped) {
      this.timer = this.tools.clock.setTimeout(this.wake, QUEUE_POLL_MS);
    }
  }

  private openOne(queue: string): void {
    if (this.workers.has(queue) || this.isStopped) return;
    const concurrency = this.settings.queueLimits?.get(queue) ?? this.settings.concurrency;
    const opened = this.backend.open(queue, (job, token) => this.run(job, token), {
      concurrency,
      maxStalledCount: NO_LIMIT,
    });
    opened.worker.on("error", (error) => this.fail(queue, error));
    opened.worker.on("lockRenewalFailed", (ids) => this.lose(ids));
    this.workers.set(queue, opened);
  }

  /** BullMQ reads the outcome from the error that this method throws. */
  private async run(bull: BullJob<BullData>, token: string): Promise<void> {
    const job = toClaim(bull);
    const control = new AbortController();
    const running = { job, control };
    this.running.set(job.id, running);
    try {
      if (!(await hasLock(bull, token)) || !(await this.markLast(bull, token, job))) return;
      const outcome = job.attempt > job.maxAttempts ? DIED : await handleJob(job, this.tools, control);
      if (outcome.kind !== "done") await this.report(bull, token, job, outcome);
    } finally {
      // After a lost lock the same job may run again in this process.
      if (this.running.get(job.id) === running) this.running.delete(job.id);
    }
  }

  /**
   * A job whose process dies in the last attempt is a dead letter. If the last start never reached a worker, the job runs again. The mark,
   * written before the handler starts, shows which case it is. Returns false if the lock is lost: BullMQ then refuses the completion of the
   * run.
   */
  private async markLast(bull: BullJob<BullData>, token: string, job: ClaimedJob): Promise<boolean> {
    if (job.attempt !== job.maxAttempts || this.tools.handlers.find(job.name) === undefined) return true;
    const data = toLastAttempt(bull.data, job);
    try {
      if (!(await this.backend.change(job, token, data))) return false;
      bull.data = data;
    } catch (error) {
      // The job may run all the same. If this process dies meanwhile, the job runs once more.
      this.reports.storeFailed("mark", error);
    }
    return true;
  }

  private async report(bull: BullJob<BullData>, token: string, job: ClaimedJob, outcome: JobOutcome): Promise<void> {
    if (outcome.kind === "returned") {
      await bull.updateData(toUncounted(bull.data));
      await bull.moveToWait(token);
      this.reports.returned([job]);
      throw new this.bullmq.WaitingError();
    }
    if (outcome.kind === "cancelled") return this.reports.cancelled(job);
    if (outcome.kind === "unhandled") return this.delayUnhandled(bull, token, job);
    this.reports.failed(job, outcome);
    if (outcome.kind === "dead") throw new this.bullmq.UnrecoverableError(outcome.reason);
    if (outcome.kind !== "failed") return;
    if (getUnhandledSince(bull.data) !== undefined) await bull.updateData(toHandled(bull.data));
    await bull.moveToDelayed(Date.now() + outcome.retryInMs, token);
    throw new this.bullmq.DelayedError();
  }

  /**
   * Delays a job without a handler. The start does not count as an attempt. After a day without a handler the job becomes a dead letter.
   */
  private async delayUnhandled(bull: BullJob<BullData>, token: string, job: ClaimedJob): Promise<never> {
    const now = this.tools.clock.now();
    const since = getUnhandledSince(bull.data) ?? now;
    await bull.updateData(toUnhandled(bull.data, since));
    if (now - since >= MAX_UNHANDLED_MS) {
      this.reports.failed(job, { kind: "dead", reason: UNHANDLED, error: UNHANDLED });
      throw new this.bullmq.UnrecoverableError(UNHANDLED);
    }
    this.reports.unhandled(job);
    this.unhandled.add(job, since);
    await bull.moveToDelayed(Date.now() + UNHANDLED_MS, token);
    throw new this.bullmq.DelayedError();
  }

  /**
   * For a run that lost its lock BullMQ reports two errors: one for the completion, one for the failure. The second is ignored.
   */
  private fail(queue: string, error: Error): void {
    const id = LOST_LOCK.exec(error.message)?.[1];
    if (id === undefined) this.reports.storeFailed("bullmq", error);
    else if (id !== this.lastRefused) this.reports.lost([{ id, token: 0, queue }]);
    this.lastRefused = id;
  }

  private lose(ids: readonly string[]): void {
    for (const id of ids) {
      const lost = this.running.get(id);
      if (lost === undefined) continue;
      this.reports.lost([lost.job]);
      lost.control.abort(new JobLeaseLostError());
    }
  }
}

/**
 * The response to a claim may come after an outage that was longer than the lock, and another worker may run the job by then. BullMQ
 * refuses the completion of a run without the lock.
 */
async function hasLock(bull: BullJob<BullData>, token: string): Promise<boolean> {
  const isFresh = Date.now() - (bull.processedOn ?? 0) < LOCK_MS / 3;
  return isFresh || (await bull.extendLock(token, LOCK_MS)) === 1;
}

/** The outcome of a job whose process died in the last attempt. */
const DIED: JobOutcome = Object.freeze({ kind: "dead", reason: WORKER_DIED, error: WORKER_DIED });
