/**
 * A body that breaks: after as many chunks as it is told, 0 for one that never gives any. It tells whether it was let go.
 */
import { Readable } from "node:stream";

export class FailingStream extends Readable {
  /** Resolves when it was destroyed, by its own error or by whoever gave up on it. */
  readonly released: Promise<void>;

  /** @param error `undefined`: it neither goes on nor ends. */
  constructor(
    private chunks: number,
    private readonly error: Error | undefined,
  ) {
    super();
    this.released = new Promise((resolve) => this.once("close", resolve));
    // Whoever sends it listens; while nobody does, a error must not end the process.
    this.on("error", () => {});
  }

  override _read(): void {
    // Not at once, so that what was given before is on its way.
    setImmediate(() => {
      this.chunks -= 1;
      if (this.chunks >= 0) this.push("chunk of a body\n".repeat(64));
      else if (this.error !== undefined) this.destroy(this.error);
    });
  }
}
