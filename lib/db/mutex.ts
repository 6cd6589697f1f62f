/** A mutex: callers run one after the other, in the order of their calls. */
export class Mutex {
  private isLocked = false;
  private isDisabled = false;
  private readonly waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Resolves when the caller has the mutex, to the function that releases it. */
  async acquire(): Promise<() => void> {
    if (this.isLocked && !this.isDisabled) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.isLocked = true;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = this.waiting.shift();
      if (next === undefined) this.isLocked = false;
      else next();
    };
  }

  /** All waiting callers continue at once, and later callers do not wait. For work that can only fail from now on. */
  disable(): void {
    this.isDisabled = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) next();
  }
}
