/** Waiting for work of unknown length, but not for ever. The work itself is not stopped: what comes after the deadline is ignored. */
import type { Clock, Timer } from "../kernel/clock.js";

/** What `within` resolves to when the deadline came first. */
export const OVERDUE: unique symbol = Symbol("overdue");

/**
 * Settles as `work` does, or resolves to `OVERDUE` once it has had `limitMs` milliseconds. With `from`, the limit counts from the
 * moment that signal aborts; until then there is none.
 */
export function within<T>(
  clock: Clock,
  limitMs: number,
  work: Promise<T>,
  from?: AbortSignal,
): Promise<T | typeof OVERDUE> {
  return new Promise((resolve, reject) => {
    let timer: Timer | undefined;
    const arm = () => {
      timer = clock.setTimeout(() => resolve(OVERDUE), limitMs);
    };
    const settle = () => {
      timer?.cancel();
      from?.removeEventListener("abort", arm);
    };
    if (from === undefined || from.aborted) arm();
    else from.addEventListener("abort", arm, { once: true });
    work.then(resolve, reject).finally(settle);
  });
}
