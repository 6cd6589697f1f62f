/** Work that takes turns: one piece after the other, in the order of the calls. */
export class Turns {
  private isBusy = false;
  private isEnded = false;
  private readonly waiting: (() => void)[] = [];

  async take<T>(work: () => Promise<T>): Promise<T> {
    const end = await this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Resolves when it is the caller's turn, to the function that ends it. */
  async begin(): Promise<() => void> {
    if (this.isBusy && !this.isEnded) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.isBusy = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = this.waiting.shift();
      if (next === undefined) this.isBusy = false;
      else next();
    };
  }

  /** All callers go on at once, and later ones do not wait: for work that is impossible from now on, and fails by itself. */
  end(): void {
    this.isEnded = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) next();
  }
}
