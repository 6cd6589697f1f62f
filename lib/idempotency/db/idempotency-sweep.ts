/**
 * Deletes the rows of expired keys, a few at a time. Requests with keys start it in the background, about once a minute: none waits for it,
 * and there is no timer. While more keys have expired than one step deletes, each such request starts a step.
 */
import { describeThrown } from "../../errors/thrown-value.js";
import { inCommitScope } from "../../lifecycle/commit-scope.js";
import { inWorkScope } from "../../lifecycle/work-scope.js";
import { tracing } from "../../tracing/tracing.js";
import type { IdempotencyTable } from "./idempotency-table.js";

const log = tracing.target("framework::idempotency");

const SWEEP_EVERY_MS = 60_000;
const ROWS_PER_STEP = 200;

export class IdempotencySweep {
  private dueAt: number | undefined = undefined;
  private isRunning = false;

  constructor(private readonly table: IdempotencyTable) {}

  /** Starts a step if it is due, outside of the request. Several instances do not sweep at the same moment, because the first time is random. */
  start(now: number): void {
    this.dueAt ??= now + Math.random() * SWEEP_EVERY_MS;
    if (this.isRunning || now < this.dueAt) return;
    this.isRunning = true;
    void inCommitScope(undefined, () => inWorkScope(undefined, () => this.step(now), undefined));
  }

  /** Never rejects. */
  private async step(now: number): Promise<void> {
    this.dueAt = now + SWEEP_EVERY_MS;
    try {
      if ((await this.table.sweep(now, ROWS_PER_STEP)) === ROWS_PER_STEP) this.dueAt = now;
    } catch (error) {
      log.warn("sweep of idempotency keys failed", describeThrown(error));
    } finally {
      this.isRunning = false;
    }
  }
}
