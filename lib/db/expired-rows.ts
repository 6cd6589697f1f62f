/**
 * Deletes the rows of a table that have expired, a few at a time. Requests start it in the background, about once a minute: none waits for
 * it, and there is no timer. While more rows have expired than one step deletes, each start runs a step.
 *
 * @example
 * this.expired = new ExpiredRows((now, limit) => this.table.sweep(now, limit), (error) => log.warn("sweep failed", error));
 * this.expired.sweep(now);
 */
import { describeThrown } from "../errors/thrown-value.js";
import { inCommitScope } from "../lifecycle/commit-scope.js";
import { inWorkScope } from "../lifecycle/work-scope.js";

const SWEEP_EVERY_MS = 60_000;
const ROWS_PER_STEP = 200;

export class ExpiredRows {
  private dueAt: number | undefined = undefined;
  private isRunning = false;

  /**
   * @param deleteSome deletes up to `limit` rows that have expired at `now`, and returns how many it found
   * @param report gets the fields of a failure for the log
   */
  constructor(
    private readonly deleteSome: (now: number, limit: number) => Promise<number>,
    private readonly report: (fields: ReturnType<typeof describeThrown>) => void,
  ) {}

  /** Starts a step if it is due, outside of the request. Several instances do not sweep at the same moment, because the first time is random. */
  sweep(now: number): void {
    this.dueAt ??= now + Math.random() * SWEEP_EVERY_MS;
    if (this.isRunning || now < this.dueAt) return;
    this.isRunning = true;
    void inCommitScope(undefined, () => inWorkScope(undefined, () => this.step(now), undefined));
  }

  /** Never rejects. */
  private async step(now: number): Promise<void> {
    this.dueAt = now + SWEEP_EVERY_MS;
    try {
      if ((await this.deleteSome(now, ROWS_PER_STEP)) === ROWS_PER_STEP) this.dueAt = now;
    } catch (error) {
      this.report(describeThrown(error));
    } finally {
      this.isRunning = false;
    }
  }
}
