/** Work that takes turns: one piece after the other, in the order of the calls. */
export class Turns {
  private isBusy = false;
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
    if (this.isBusy) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.isBusy = true;
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const next = this.waiting.shift();
      if (next === undefined) this.isBusy = false;
      else next();
    };
  }
}
