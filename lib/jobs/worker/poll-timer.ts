/**
 * The wait of a worker before its next poll: about a second, twice as long after each claim that failed, and at most half a minute. The
 * jitter keeps many processes from polling at the same moment.
 */
import type { Clock, Timer } from "../../runtime/clock.js";

const POLL_MS = 1000;
const MAX_POLL_MS = 30_000;
const MAX_DOUBLINGS = 10;

export class PollTimer {
  private timer: Timer | undefined;
  private failures = 0;

  constructor(
    private readonly clock: Clock,
    private readonly wake: () => void,
  ) {}

  /** The next wait has its usual length again. */
  succeeded(): void {
    this.failures = 0;
  }

  /** The next wait is twice as long. */
  failed(): void {
    this.failures += 1;
  }

  /** Replaces a wait that is under way. */
  start(): void {
    this.stop();
    const pause = Math.min(POLL_MS * 2 ** Math.min(this.failures, MAX_DOUBLINGS), MAX_POLL_MS);
    this.timer = this.clock.setTimeout(this.wake, pause * (0.5 + Math.random()), { isPoll: true });
  }

  stop(): void {
    this.timer?.cancel();
  }
}
