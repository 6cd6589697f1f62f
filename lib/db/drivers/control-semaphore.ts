/**
 * A semaphore for the control connections of a pool, which ask the server to cancel a statement. At most two are open at once: an
 * overloaded server must not get twice as many connections.
 *
 * Not for the connections of callers: these are in a `ConnectionPool`.
 */
const MAX_AT_ONCE = 2;

export class ControlSemaphore {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  /** Runs `work` when fewer than two others run, in the order of the calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken < MAX_AT_ONCE) this.taken++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** The place goes directly to a waiting caller. If it were free meanwhile, a new caller could take it too. */
  private release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.taken--;
    else next();
  }
}
