/** What the port of the browser knows of the application: the process that is ready, and the failure of the newest code. */
import type { DevelopmentFailure } from "./failure.js";

export class DevelopmentState {
  /** The port of the process that serves; `undefined` while there is none. */
  port: number | undefined;
  /** Why the newest code does not serve. A process with older code may still serve. */
  failure: DevelopmentFailure | undefined;
  /** Grows with each change. */
  version = 0;
  private readonly waiting = new Set<() => void>();

  change(to: { readonly port: number | undefined; readonly failure: DevelopmentFailure | undefined }): void {
    Object.assign(this, to);
    this.version += 1;
    for (const wake of this.waiting) wake();
  }

  /** Resolves at the next change, when the time is over, or when the client has left. */
  changed(limitMs: number, left?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        left?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, limitMs);
      left?.addEventListener("abort", wake);
      this.waiting.add(wake);
    });
  }
}
