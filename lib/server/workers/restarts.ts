/**
 * When to fork again after a worker has ended without being asked, and when to give up. The first replacement comes at once. Then the
 * time doubles up to a limit, until a worker lives for a while.
 *
 * @example
 * const restarts = new Restarts(clock, { limit: 10, withinMs: 60_000 });
 * const delayMs = restarts.record(worker.readyAt);
 * if (restarts.isExhausted) stop();
 */
import type { Clock } from "../../runtime/clock.js";

/** The end of the parent: more than `limit` workers ended without being asked within `withinMs`. */
export interface RestartLimit {
  readonly limit: number;
  readonly withinMs: number;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;
/** A worker that was ready for this time has shown that it works. */
const STABLE_MS = 10_000;

export class Restarts {
  /** Of the recent ends, by the monotonic clock. */
  private readonly ends: number[] = [];
  private inARow = 0;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly options: RestartLimit,
  ) {}

  /**
   * A worker ended without being asked.
   *
   * @returns milliseconds until its replacement is forked
   */
  record(readyAt: number | undefined): number {
    const now = this.clock.monotonic();
    this.ends.push(now);
    this.removeOld(now);
    const wasStable = readyAt !== undefined && now - readyAt >= STABLE_MS;
    this.inARow = wasStable ? 1 : this.inARow + 1;
    return this.inARow === 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.inARow - 2));
  }

  get isExhausted(): boolean {
    return this.ends.length > this.options.limit;
  }

  private removeOld(now: number): void {
    while ((this.ends[0] ?? now) < now - this.options.withinMs) this.ends.shift();
  }
}
