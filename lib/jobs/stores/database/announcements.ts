/**
 * Notifies other processes through PostgreSQL of committed jobs, so that they claim them before their next poll. Transactions with a
 * `NOTIFY` commit one after the other, so it is never part of a transaction of the application. A process sends at most one notification
 * each 100 ms, in a separate statement after the commit. If a notification is lost, the jobs wait until the next poll.
 */
import { AsyncResource } from "node:async_hooks";
import type { Clock, Timer } from "../../../runtime/clock.js";
import type { JobSql } from "./job-sql.js";
import { runQuietly } from "../../worker/quiet.js";

const CHANNEL = "framework_jobs";
const PAUSE_MS = 100;
/** All processes are notified at the same moment, and should not all claim in that moment. */
const SPREAD_MS = 20;

export class Announcements {
  private last = -Infinity;
  private timer: Timer | undefined;

  constructor(
    private readonly sql: JobSql,
    private readonly clock: Clock,
  ) {}

  /** Runs without the request and the transaction of the caller, which may end earlier. */
  readonly announce = AsyncResource.bind((): void => {
    if (this.timer !== undefined) return;
    const pause = this.last + PAUSE_MS - this.clock.monotonic();
    if (pause <= 0) this.send();
    else this.timer = this.clock.setTimeout(() => this.send(), pause, { background: true });
  });

  /** Calls `listener` soon after each announcement. Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    let spread: Timer | undefined;
    const soon = (): void => {
      spread?.cancel();
      spread = this.clock.setTimeout(listener, Math.random() * SPREAD_MS, { background: true });
    };
    const end = this.sql.database.driver.listen?.(CHANNEL, soon);
    return () => {
      spread?.cancel();
      end?.();
    };
  }

  stop(): void {
    this.timer?.cancel();
  }

  private send(): void {
    this.timer = undefined;
    this.last = this.clock.monotonic();
    // A poll finds the jobs too.
    runQuietly(() => this.sql.run(`SELECT pg_notify('${CHANNEL}', '')`)).catch(() => {});
  }
}
