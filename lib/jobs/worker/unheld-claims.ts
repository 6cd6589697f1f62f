/**
 * Claims that the store may hold for a worker that does not know of them, because the answer to a claim was lost. The store may also make
 * such a claim later, so the worker releases what it does not hold for the time of a lease. Without that the jobs would wait for its end.
 */
import type { Clock } from "../../runtime/clock.js";
import type { JobClaim, JobStore } from "../job-store.js";
import { runQuietly } from "./quiet.js";

export interface UnheldTools {
  readonly store: Pick<JobStore, "releaseUnheld">;
  readonly clock: Clock;
  /** Called with the number of jobs that were released. */
  readonly released: (jobs: number) => void;
}

export class UnheldClaims {
  private until = -Infinity;

  constructor(
    private readonly tools: UnheldTools,
    private readonly leaseMs: number,
  ) {}

  /** Called when the outcome of a claim is unknown. */
  recordUnknown(): void {
    this.until = this.tools.clock.monotonic() + this.leaseMs;
  }

  get mayExist(): boolean {
    return this.tools.clock.monotonic() < this.until;
  }

  /** Called while no claim is under way. @param known all that the worker knows of */
  async release(worker: string, known: () => readonly JobClaim[]): Promise<void> {
    if (!this.mayExist) return;
    const { store, released } = this.tools;
    const jobs = await runQuietly(() => store.releaseUnheld(worker, known()));
    if (jobs > 0) released(jobs);
  }
}
