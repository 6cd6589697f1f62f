/**
 * Turns of the control connections of a pool, which ask the server to end a statement. At most two are open at once: an overloaded server
 * must not get twice as many connections.
 *
 * Not for the connections of callers: these are a `Pool`.
 */
const MAX_AT_ONCE = 2;

export class ControlSemaphore {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  /** Runs `work` when one of the turns is free, in the order of the calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken < MAX_AT_ONCE) this.taken++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** A turn that is over goes to a caller that waits. If it became free meanwhile, a new caller could take it as well. */
  private release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.taken--;
    else next();
  }
}
