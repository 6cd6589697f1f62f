/** The events and the counters of jobs. They name the job, its queue, its id and its attempt, never its payload. */
import { FrameworkError } from "../errors/framework-error.js";
import type { SubsystemHost, SubsystemMetrics } from "../lifecycle/operations.js";
import { TraceContext } from "../observe/trace-context.js";
import { tracing } from "../tracing/tracing.js";
import type { JobOutcome } from "./handled-job.js";
import type { ClaimedJob, JobClaim, ReapedJob } from "./job-store.js";

const log = tracing.target("framework::jobs");

/** Counter with the labels `subsystem`, `job` and `outcome`: `retried`, `dead`, `returned` or `lost`. */
export const JOBS_UNFINISHED = "framework_jobs_unfinished_total";

export class JobReports {
  private readonly metrics: SubsystemMetrics;
  private readonly subsystem: string;

  constructor({ name, metrics }: SubsystemHost) {
    this.subsystem = name;
    this.metrics = metrics;
    metrics.describeCounter(JOBS_UNFINISHED, "Runs of jobs that did not complete, by outcome.");
  }

  failed(job: ClaimedJob, outcome: JobOutcome): void {
    if (outcome.kind === "failed") {
      this.count(job.name, "retried");
      log.warn("job failed", { ...fieldsOf(job), retry_ms: outcome.retryInMs, error: outcome.error });
    } else if (outcome.kind === "dead") {
      // A name without a handler may come from outside of the program, so it is not used as a label.
      this.count(isUnknown(outcome.error) ? "(unknown)" : job.name, "dead");
      log.error("job is dead", { ...fieldsOf(job), error: outcome.error });
    }
  }

  returned(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.count(job.name, "returned");
    log.info("jobs returned", { jobs: jobs.length });
  }

  /** Called when the claims belong to another process now. */
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

  storeFailed(operation: string, error: unknown): void {
    log.warn("job store failed", { subsystem: this.subsystem, operation, error });
  }

  private count(job: string, outcome: string): void {
    this.metrics.increment(JOBS_UNFINISHED, { subsystem: this.subsystem, job, outcome });
  }
}

function fieldsOf({ id, name, queue, attempt, requestId, traceparent }: ClaimedJob): Record<string, unknown> {
  return {
    job_id: id,
    job: name,
    queue,
    attempt,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(traceparent !== undefined && { trace_id: TraceContext.parse(traceparent)?.traceId }),
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof FrameworkError && error.code === "E_JOB_UNKNOWN";
}
