/**
 * Deadlines that all lie the same time ahead: the order in which they were set is the order in which they fall due, so a list and one
 * timer at a time are enough, and a deadline that is met (nearly all are) costs no timer. While there is none, no timer is set.
 */
import type { Clock, Timer } from "../runtime/clock.js";

/** One deadline, as a link of the list. */
export class Deadline {
  due = 0;
  previous: Deadline | undefined = undefined;
  next: Deadline | undefined = undefined;

  constructor(readonly missed: () => void) {}
}

export class Deadlines {
  private first: Deadline | undefined = undefined;
  private last: Deadline | undefined = undefined;
  private timer: Timer | undefined = undefined;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {}

  /** Sets `deadline` to the full time from now; it must not be in the list. */
  add(deadline: Deadline): void {
    deadline.due = this.clock.monotonic() + this.ms;
    const { last } = this;
    deadline.previous = last;
    this.last = deadline;
    if (last !== undefined) last.next = deadline;
    else this.first = deadline;
    // A timer that is still out will find this one; while it rings, it sees to the next itself.
    if (last === undefined && this.timer === undefined) this.arm(this.ms);
  }

  remove(deadline: Deadline): void {
    const { previous, next } = deadline;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    deadline.previous = undefined;
    deadline.next = undefined;
  }

  private arm(delayMs: number): void {
    this.timer = this.clock.setTimeout(() => this.ring(), delayMs, { background: true });
  }

  private ring(): void {
    this.timer = undefined;
    const now = this.clock.monotonic();
    for (let { first } = this; first !== undefined && first.due <= now; { first } = this) {
      this.remove(first);
      first.missed();
    }
    if (this.first !== undefined && this.timer === undefined) this.arm(this.first.due - now);
  }
}
