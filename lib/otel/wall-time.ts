/**
 * The time of spans: steps of the monotonic clock from an anchor on the calendar. All spans of a trace share the anchor of its first, so
 * that a child never sticks out of its parent, whatever happens to the machine's calendar meanwhile. The calendar has whole milliseconds
 * only; the fraction is what several looks at it leave possible.
 */
import type { HrTime } from "@opentelemetry/api";
import type { Clock } from "../runtime/clock.js";

export class WallTime {
  readonly #clock: Clock;
  #anchor = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What to add to the monotonic clock from now on. Right within a millisecond, and soon within microseconds. */
  anchor(): number {
    // The calendar is cut down to its millisecond: the true difference is this, or up to one more.
    const least = this.#clock.now() - this.#clock.monotonic();
    if (least > this.#anchor || least < this.#anchor - 1) this.#anchor = least;
    return this.#anchor;
  }

  /** Now, as the SDK takes it without looking at clocks of its own: whole seconds since the Unix epoch, and nanoseconds. */
  at(anchor: number): HrTime {
    const milliseconds = anchor + this.#clock.monotonic();
    return [Math.floor(milliseconds / 1000), Math.floor((milliseconds % 1000) * 1e6)];
  }
}
