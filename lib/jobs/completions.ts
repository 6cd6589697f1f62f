/**
 * Reports completed jobs to the store: at once if no report is under way, else together with all jobs that end until then. A store that
 * fails is asked again until the claims have ended.
 */
import { type Clock, within } from "../runtime/clock.js";
import type { JobClaim, JobStore } from "./job-store.js";
import { quietly } from "./quiet.js";

const MOST_AT_ONCE = 500;
const PAUSE_MS = 1000;

export interface CompletionReports {
  /** Called when the store refused the claims, because another process has them. */
  readonly lost: (claims: readonly JobClaim[]) => void;
  readonly failed: (error: unknown) => void;
  /** Called when some claims were reported. */
  readonly told: () => void;
}

export class Completions {
  private waiting: JobClaim[] = [];
  private telling: Promise<void> | undefined;
  private inFlight = 0;
  private hasEnded = false;

  constructor(
    private readonly store: Pick<JobStore, "complete">,
    private readonly clock: Clock,
    private readonly reports: CompletionReports,
  ) {}

  /** Jobs that ended and that the store does not know to be completed yet. */
  get pending(): number {
    return this.waiting.length + this.inFlight;
  }

  add(claim: JobClaim): void {
    this.waiting.push(claim);
    this.telling ??= this.tellAll();
  }

  /** Resolves when all are reported, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    if (this.telling !== undefined) await within(this.clock, limitMs, this.telling);
    // A store that still fails then gets no further call; the jobs run again elsewhere.
    this.hasEnded = true;
  }

  private async tellAll(): Promise<void> {
    // Jobs that end in the same turn of the event loop are reported together. The report goes out after the next claim, because a free
    // place waits for that claim.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    while (this.waiting.length > 0 && !this.hasEnded) await this.tellSome(this.waiting.splice(0, MOST_AT_ONCE));
    this.telling = undefined;
  }

  private async tellSome(claims: readonly JobClaim[]): Promise<void> {
    this.inFlight = claims.length;
    try {
      const lost = await quietly(() => this.store.complete(claims));
      this.inFlight = 0;
      if (lost.length > 0) this.reports.lost(lost);
    } catch (error) {
      this.reports.failed(error);
      await new Promise<void>((resolve) => this.clock.setTimeout(resolve, PAUSE_MS));
      this.waiting.unshift(...claims);
    } finally {
      this.inFlight = 0;
    }
    this.reports.told();
  }
}
