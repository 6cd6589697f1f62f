/**
 * Claims that a worker does not know of, because the response to its claim was lost. The store may also carry out such a claim later, so
 * the worker releases its unknown claims for the duration of a lease. Otherwise their jobs would wait for the end of the lease.
 */
import type { Clock } from "../../runtime/clock.js";
import type { JobClaim, JobStore } from "../job-store.js";
import { runQuietly } from "./quiet.js";

export interface UnknownClaimTools {
  readonly store: Pick<JobStore, "releaseUnknown">;
  readonly clock: Clock;
  /** Called with the number of jobs that were released. */
  readonly released: (jobs: number) => void;
}

export class UnknownClaims {
  private until = -Infinity;

  constructor(
    private readonly tools: UnknownClaimTools,
    private readonly leaseMs: number,
  ) {}

  /** Called when the outcome of a claim is unknown. */
  recordUnknown(): void {
    this.until = this.tools.clock.monotonic() + this.leaseMs;
  }

  get mayExist(): boolean {
    return this.tools.clock.monotonic() < this.until;
  }

  /** Called while no claim is under way. @param known all claims that the worker knows of */
  async release(worker: string, known: () => readonly JobClaim[]): Promise<void> {
    if (!this.mayExist) return;
    const { store, released } = this.tools;
    const jobs = await runQuietly(() => store.releaseUnknown(worker, known()));
    if (jobs > 0) released(jobs);
  }
}
