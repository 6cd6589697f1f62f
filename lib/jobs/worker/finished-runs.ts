/**
 * Reports the outcomes of runs to the store: completions and jobs without a handler in batches, failures one by one.
 *
 * Internal: each `StoreWorker` has one.
 */
import type { Clock } from "../../runtime/clock.js";
import type { JobReports } from "../job-reports.js";
import type { ClaimedJob, JobClaim, JobStore } from "../job-store.js";
import { BatchedClaims, type BatchSteps } from "./batched-claims.js";
import type { JobOutcome } from "./handled-job.js";
import { UnhandledPauses } from "./unhandled-pauses.js";
import { repeatStep, type WorkerClaim } from "./worker-claims.js";

export interface FinishedRunTools {
  readonly store: Pick<JobStore, "complete" | "waitUnhandled" | "fail">;
  readonly clock: Clock;
  readonly reports: JobReports;
  /** Called when other jobs of a concurrency key may be claimed. */
  readonly freed: () => void;
  /** Called when some claims were sent, or could not be. */
  readonly sent: () => void;
}

type FailedOutcome = Extract<JobOutcome, { kind: "failed" | "dead" }>;

export class FinishedRuns {
  private readonly completions: BatchedClaims;
  private readonly unhandled: BatchedClaims;

  constructor(private readonly tools: FinishedRunTools) {
    const { store, clock, freed } = tools;
    this.completions = this.createBatched("complete", async (claims) => {
      const lost = await store.complete(claims);
      if (claims.some(({ concurrency }) => concurrency !== undefined)) freed();
      return lost;
    });
    const pauses = new UnhandledPauses(clock);
    this.unhandled = this.createBatched("waitUnhandled", (some) => store.waitUnhandled(some, pauses.next(some.length)));
  }

  /** The number of claims whose outcome the store does not know yet. */
  get pending(): number {
    return this.completions.pending + this.unhandled.pending;
  }

  get claims(): readonly JobClaim[] {
    return [...this.completions.claims, ...this.unhandled.claims];
  }

  /**
   * Returns a promise only for a failure, which resolves when the store knows of it or the claim has ended.
   *
   * @param isActive false when the claim is lost
   */
  add(run: WorkerClaim, outcome: JobOutcome, isActive: () => boolean): Promise<void> | undefined {
    const { job } = run;
    if (outcome.kind === "failed" || outcome.kind === "dead") return this.reportFailure(run, outcome, isActive);
    if (outcome.kind === "cancelled") this.addCancelled(job);
    else if (outcome.kind === "done") this.completions.add(job);
    else if (outcome.kind === "unhandled") {
      this.tools.reports.unhandled(job);
      this.unhandled.add(job);
    }
    return undefined;
  }

  addCancelled(job: ClaimedJob): void {
    this.tools.reports.cancelled(job);
    this.completions.add(job);
  }

  /** Resolves when all are sent, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    await Promise.all([this.completions.flush(limitMs), this.unhandled.flush(limitMs)]);
  }

  private createBatched(step: string, send: BatchSteps["send"]): BatchedClaims {
    const { clock, reports, sent } = this.tools;
    return new BatchedClaims(clock, {
      send,
      lost: (claims) => reports.lost(claims),
      failed: (error) => reports.storeFailed(step, error),
      sent,
    });
  }

  /** The report is repeated while the store fails, because the attempt has run and counts. */
  private async reportFailure(run: WorkerClaim, outcome: FailedOutcome, isActive: () => boolean): Promise<void> {
    const { store, clock, reports } = this.tools;
    const retryInMs = outcome.kind === "failed" ? outcome.retryInMs : undefined;
    const step = { clock, isActive, failed: (error: unknown) => reports.storeFailed("fail", error) };
    const isAccepted = await repeatStep(run, step, () => store.fail(run.job, { reason: outcome.reason, retryInMs }));
    if (isAccepted === true) reports.failed(run.job, outcome);
    else if (isAccepted === false) reports.lost([run.job]);
  }
}
