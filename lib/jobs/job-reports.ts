/** The events and the counters of jobs. They name the job, its queue, its id and its attempt, never its payload. */
import type { SubsystemHost, SubsystemMetrics } from "../lifecycle/operations.js";
import { TraceContext } from "../observe/trace-context.js";
import { tracing } from "../tracing/tracing.js";
import type { Clock } from "../runtime/clock.js";
import type { JobOutcome } from "./worker/handled-job.js";
import type { ClaimedJob, JobClaim, ReapedJob, UnhandledJobs } from "./job-store.js";

const log = tracing.target("framework::jobs");

/** Counter with the labels `subsystem`, `job` and `outcome`: `retried`, `dead`, `returned`, `cancelled`, `unhandled` or `lost`. */
export const JOBS_UNFINISHED = "framework_jobs_unfinished_total";
/** Gauge with the labels `subsystem`, `job` and `queue`. Its value is at most 10 001. */
export const JOBS_UNHANDLED = "framework_jobs_unhandled";
const UNHANDLED_EVENT_MS = 60_000;
/** Names without a handler may come from outside of the program, so their number is bounded. */
const MAX_NAMES = 100;

export class JobReports {
  /** The number of jobs that this process has moved to the dead letters. */
  dead = 0;
  private readonly metrics: SubsystemMetrics;
  private readonly subsystem: string;
  private readonly clock: Clock;
  /** The time of the last event for each name without a handler, by the monotonic clock. */
  private readonly lastEvents = new Map<string, number>();
  /** The labels for which the gauge was ever set. */
  private readonly unhandledJobs = new Map<string, Readonly<Record<string, string>>>();

  constructor({ name, metrics, clock }: SubsystemHost) {
    this.clock = clock;
    this.subsystem = name;
    this.metrics = metrics;
    metrics.describeCounter(JOBS_UNFINISHED, "Runs of jobs that did not complete, by outcome.");
    const help = "Jobs that wait for a process with a handler for their name.";
    // Each worker counts the jobs of all processes.
    metrics.describeGauge(JOBS_UNHANDLED, help, { workers: "max" });
  }

  failed(job: ClaimedJob, outcome: JobOutcome): void {
    if (outcome.kind === "failed") {
      this.count(job.name, "retried");
      log.warn("job failed", { ...toFields(job), retry_ms: outcome.retryInMs, error: outcome.error });
    } else if (outcome.kind === "dead") {
      this.count(job.name, "dead");
      log.error("job is dead", { ...toFields(job), error: outcome.error });
    }
  }

  /** Called when a job is released because this process has no handler for it. Writes at most one event a minute for each name. */
  unhandled({ id, name, queue }: ClaimedJob): void {
    this.count("(unknown)", "unhandled");
    const now = this.clock.monotonic();
    const last = this.lastEvents.get(name);
    if (last === undefined ? this.lastEvents.size >= MAX_NAMES : now - last < UNHANDLED_EVENT_MS) return;
    this.lastEvents.set(name, now);
    log.warn("no handler for job", { job_id: id, job: name, queue, error: "E_JOB_UNKNOWN", fix: describeFix(name) });
  }

  /** Sets the gauge to the waiting jobs without a handler, of all processes. */
  setUnhandledGauge(found: readonly UnhandledJobs[]): void {
    for (const labels of this.unhandledJobs.values()) this.metrics.set(JOBS_UNHANDLED, labels, 0);
    for (const { name, queue, jobs } of found) {
      const key = `${name} ${queue}`;
      if (!this.unhandledJobs.has(key) && this.unhandledJobs.size >= MAX_NAMES) continue;
      const labels = { subsystem: this.subsystem, job: name, queue };
      this.unhandledJobs.set(key, labels);
      this.metrics.set(JOBS_UNHANDLED, labels, jobs);
    }
  }

  releasedUnknown(jobs: number): void {
    log.warn("jobs of a lost claim released", { subsystem: this.subsystem, jobs });
  }

  cancelled({ id, name, queue, attempt }: ClaimedJob): void {
    this.count(name, "cancelled");
    log.info("job cancelled", { job_id: id, job: name, queue, attempt });
  }

  returned(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.count(job.name, "returned");
    log.info("jobs returned", { jobs: jobs.length });
  }

  /** Called when another process has taken the claims. */
  lost(claims: readonly (JobClaim & Partial<ClaimedJob>)[]): void {
    for (const { id, name, attempt, queue } of claims) {
      this.count(name ?? "(unknown)", "lost");
      log.warn("job lease lost", { job_id: id, job: name, queue, attempt });
    }
  }

  reaped(jobs: readonly ReapedJob[]): void {
    for (const { id, name, queue, attempt, isDead, reason } of jobs) {
      this.count("(reaped)", isDead ? "dead" : "retried");
      const fields = { job_id: id, job: name, queue, attempt };
      if (isDead) log.error("job is dead", { ...fields, error: reason });
      else log.warn("job taken from a dead worker", fields);
    }
  }

  purged(jobs: number): void {
    log.info("dead letters removed", { subsystem: this.subsystem, jobs });
  }

  storeFailed(operation: string, error: unknown): void {
    log.warn("job store failed", { subsystem: this.subsystem, operation, error });
  }

  private count(job: string, outcome: string): void {
    if (outcome === "dead") this.dead += 1;
    this.metrics.increment(JOBS_UNFINISHED, { subsystem: this.subsystem, job, outcome });
  }
}

function describeFix(name: string): string {
  if (name === "framework.mail") return "list mailJobs([…]) of @stagecraft/framework/mail/jobs under the providers";
  return "list the class with its @Handles under the providers of a process that works";
}

function toFields({ id, name, queue, attempt, requestId, traceparent }: ClaimedJob): Record<string, unknown> {
  return {
    job_id: id,
    job: name,
    queue,
    attempt,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(traceparent !== undefined && { trace_id: TraceContext.parse(traceparent)?.traceId }),
  };
}
