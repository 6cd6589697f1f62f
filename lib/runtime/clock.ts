/**
 * The time, injected: everything that is timed asks a `Clock`, so that a test moves it by hand.
 * Durations come from `monotonic()`, never from `now()`, which jumps when the machine's time is set.
 */

/** Milliseconds, 24.8 days: a timer of Node's that is set for longer fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** A timer that can be called off; calling it off twice, or late, does nothing. */
export interface Timer {
  cancel(): void;
}

export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
  /** Milliseconds, with fractions, from an arbitrary start; never goes back. */
  abstract monotonic(): number;
  /** Calls `callback` once after at least `delayMs` milliseconds. `background` timers do not keep the process alive. */
  abstract setTimeout(callback: () => void, delayMs: number, options?: { readonly background?: boolean }): Timer;
}

/** The machine's clock. */
export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }

  override setTimeout(callback: () => void, delayMs: number, options?: { readonly background?: boolean }): Timer {
    const timer = setTimeout(callback, delayMs);
    if (options?.background === true) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  }
}

// Waiting for work of unknown length, but not for ever. The work itself is not stopped: what comes after the deadline is ignored.

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
