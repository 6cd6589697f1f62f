/** A promise that a spec resolves by hand. */
export class Gate<T = void> {
  readonly passed: Promise<T>;
  #open: (value: T) => void = () => {};

  constructor() {
    this.passed = new Promise((resolve) => (this.#open = resolve));
  }

  open(value: T): void {
    this.#open(value);
  }
}
