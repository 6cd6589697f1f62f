/**
 * The queue of password hashes. A hash takes a thread of Node's pool and much memory for a long time, and the same threads read files and
 * look addresses up. So only a few run at once, some wait, and the next one is refused. The queue holds no password.
 */
import { UnavailableError } from "../../errors/framework-error.js";

export class HashQueue {
  private running = 0;
  /** In the order of their arrival. Each call passes the slot on. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly concurrency: number,
    private readonly maxWaiting: number,
  ) {}

  /** @throws UnavailableError `E_PASSWORD_QUEUE` if too many wait; the reason of the signal if it aborts first */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    if (this.running < this.concurrency) this.running += 1;
    else await this.wait(signal);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.waiting.size >= this.maxWaiting)
      throw new UnavailableError("Too many passwords wait to be hashed.", {
        code: "E_PASSWORD_QUEUE",
        headers: { "Retry-After": "1" },
      });
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = (): void => {
        this.waiting.delete(start);
        reject(signal?.reason as Error); // As `throwIfAborted` throws it.
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.waiting.add(start);
    });
  }

  private release(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
