/**
 * Deletes the rows of expired sessions, a few at a time. The writes of the store start it in the background, about once a minute: no
 * request waits for it, there is no timer, and a process without sessions does nothing. Several instances do not sweep at the same moment,
 * because each time is a random one.
 *
 * While more sessions have expired than one step deletes, each write starts a step, so the table shrinks faster than visitors fill it.
 */
import { setImmediate } from "node:timers/promises";
import { describeThrown } from "../../../../errors/thrown-value.js";
import { tracing } from "../../../../tracing/tracing.js";
import { type SessionTable, retryUntilDecided } from "./session-table.js";

const log = tracing.target("framework::session");

const SWEEP_EVERY_MS = 60_000;
const ROWS_PER_STEP = 200;

export class SessionSweep {
  private dueAt: number | undefined = undefined;
  private isRunning = false;

  constructor(private readonly table: SessionTable) {}

  /** Starts a step if it is due, and returns at once. */
  afterWrite(now: number): void {
    this.dueAt ??= now + Math.random() * SWEEP_EVERY_MS;
    if (this.isRunning || now < this.dueAt) return;
    this.isRunning = true;
    void this.step(now);
  }

  /** Deletes all, in steps. Returns the number of sessions. */
  async sweepAll(now: number): Promise<number> {
    let sessions = 0;
    for (;;) {
      const deleted = await retryUntilDecided(() => this.table.deleteExpired(now, ROWS_PER_STEP));
      sessions += deleted.sessions;
      if (deleted.found < ROWS_PER_STEP) return sessions;
      // SQLite runs in this process, so requests must run between two steps.
      await setImmediate();
    }
  }

  /** Never rejects. */
  private async step(now: number): Promise<void> {
    this.dueAt = now + SWEEP_EVERY_MS * (0.75 + Math.random() / 2);
    try {
      const { found } = await this.table.deleteExpired(now, ROWS_PER_STEP);
      if (found === ROWS_PER_STEP) this.dueAt = now;
    } catch (error) {
      log.warn("sweep of sessions failed", describeThrown(error));
    } finally {
      this.isRunning = false;
    }
  }
}
