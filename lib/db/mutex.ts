/** Work that takes turns: one piece after the other, in the order of the calls. */
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

  /** Resolves when it is the caller's turn, to the function that ends it. */
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

  /** All callers go on at once, and later ones do not wait: for work that is impossible from now on, and fails by itself. */
  disable(): void {
    this.isDisabled = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) next();
  }
}
