/**
 * The clock. All code that measures time or waits uses an injected `Clock`, so that a test can set the time. Durations come from
 * `monotonic()`. `now()` is only for dates: it jumps when the machine's time is set.
 *
 * @example
 * const start = clock.monotonic();
 * const report = await within(clock, 1000, probe());
 * log.info("probed", { overdue: report === OVERDUE, ms: clock.monotonic() - start });
 */

/** Milliseconds, about 24.8 days. A timer of Node that is set for longer fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

export interface Timer {
  /** Has no effect if the timer was cancelled or has fired. */
  cancel(): void;
}

export interface TimerOptions {
  /** The timer does not keep the process alive. */
  readonly background?: boolean;
  /**
   * The callback polls for work and sets the timer again. When a test moves a fake clock by a long time, it calls such a callback less
   * often. Other clocks ignore this option.
   */
  readonly isPoll?: boolean;
}

export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
  /** Milliseconds, with fractions, since an arbitrary start. It never goes back. */
  abstract monotonic(): number;
  /** Calls `callback` once, after at least `delayMs` milliseconds. */
  abstract setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer;
}

/** The machine's clock. */
export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }

  override setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    const timer = setTimeout(callback, delayMs);
    if (options?.background === true) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  }
}

/** Resolves after `ms` milliseconds; rejects with the reason of the signal when it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const aborted = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** The result of `within` if the time limit came first. */
export const OVERDUE: unique symbol = Symbol("overdue");

/**
 * Settles as `work` does, or resolves to `OVERDUE` after `limitMs` milliseconds. `within` does not stop the work; its later result is
 * ignored. With `from`, the time counts from the abort of that signal, and there is no limit before it.
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
