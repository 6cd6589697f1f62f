/**
 * A clock that stands still until a test moves it. Everything timed in the framework asks the injected `Clock`, so this one drives
 * timeouts, limits, sessions and the drain without waiting.
 *
 * `advance` is for code that only counts on timers. Where promises stand between one timer and the next (a stop that is
 * awaited before the next one is armed), use `advanceAsync`, which lets them settle at every step.
 *
 * @example
 * const clock = new FakeClock();
 * await using app = await testApp(Shop, provide(Clock).useValue(clock));
 * clock.advance(60_000);
 */
import { AsyncResource } from "node:async_hooks";
import { Clock, type Timer } from "../runtime/clock.js";

interface Pending {
  readonly due: number;
  readonly callback: () => void;
}

/** More timers than that in one advance can only be one that arms itself again and again for the same moment. */
const MAX_FIRED = 100_000;

export class FakeClock extends Clock {
  private readonly timers = new Set<Pending>();
  private elapsed = 0;
  private epoch: number;

  /** @param now where the calendar starts, in milliseconds since the Unix epoch; 2026-01-01 unless given. */
  constructor(now = Date.UTC(2026, 0, 1)) {
    super();
    this.epoch = now;
  }

  override now(): number {
    return this.epoch + this.elapsed;
  }

  override monotonic(): number {
    return this.elapsed;
  }

  override setTimeout(callback: () => void, delayMs: number): Timer {
    // As with the machine's timers, the callback finds the async context of the one who armed it, not of the one who advances.
    const timer: Pending = { due: this.elapsed + Math.max(0, delayMs), callback: AsyncResource.bind(callback) };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /** How many timers are armed; 0 at the end shows that none was forgotten. */
  get pending(): number {
    return this.timers.size;
  }

  /** Sets the calendar as an operator would; durations and timers do not notice. */
  setNow(now: number): void {
    this.epoch = now - this.elapsed;
  }

  /** Moves the time by `ms` and fires what falls due, also what that arms, in order of time and then of arming, each at its moment. */
  advance(ms: number): void {
    const end = this.target(ms);
    for (let fired = 0; this.fireNext(end, fired); fired += 1);
    this.elapsed = end;
  }

  /** As `advance`, and lets promises settle before the first timer, after each, and at the end. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.target(ms);
    await settle();
    for (let fired = 0; this.fireNext(end, fired); fired += 1) await settle();
    this.elapsed = end;
    await settle();
  }

  private target(ms: number): number {
    if (!(ms >= 0)) throw new RangeError(`cannot advance by ${ms} ms: time only goes forward`);
    return this.elapsed + ms;
  }

  private fireNext(end: number, fired: number): boolean {
    const next = this.earliest();
    if (next === undefined || next.due > end) return false;
    if (fired === MAX_FIRED)
      throw new RangeError(`${MAX_FIRED} timers in one advance: one re-arms itself without delay`);
    this.elapsed = Math.max(this.elapsed, next.due);
    this.timers.delete(next);
    next.callback();
    return true;
  }

  private earliest(): Pending | undefined {
    let earliest: Pending | undefined;
    for (const timer of this.timers) if (earliest === undefined || timer.due < earliest.due) earliest = timer;
    return earliest;
  }
}

/** One turn of the event loop: every promise that can settle without I/O or real timers has. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Lets a `FakeClock` go on with the machine's time while something that needs time runs: nobody is left to move it when a test is over
 * and the application drains.
 */
const STEP_MS = 20;

export async function advancingInRealTime<T>(clock: Clock, during: () => Promise<T>): Promise<T> {
  if (!(clock instanceof FakeClock)) return during();
  const timer = setInterval(() => clock.advance(STEP_MS), STEP_MS);
  try {
    return await during();
  } finally {
    clearInterval(timer);
  }
}
