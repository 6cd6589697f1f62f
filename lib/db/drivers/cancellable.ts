/** A statement on a server that is cancelled when its request has ended. */
import { type Abortable, type AbortListener, offAbort, onAbort } from "../../runtime/abortable.js";

export interface Cancelling<T> {
  /** The statement, which was sent. */
  readonly running: Promise<T>;
  /** Resolves when the connection can be used again or is destroyed. */
  readonly cancel: (running: Promise<T>) => Promise<void>;
  /** Returns the error for the caller. */
  readonly translateError: (error: unknown, isCancelled: boolean) => unknown;
}

/** Settles as the statement does. If the statement is cancelled, waits for the end of the cancel first. */
export function cancellable<T>(work: Abortable, { running, cancel, translateError }: Cancelling<T>): Promise<T> {
  const listener = new CancelOnAbort(() => cancel(running));
  onAbort(work, listener);
  return running.then(
    (result) => {
      offAbort(work, listener);
      const { cancelled } = listener;
      return cancelled === undefined ? result : cancelled.then(() => result);
    },
    async (error: unknown) => {
      offAbort(work, listener);
      const { cancelled } = listener;
      await cancelled;
      throw translateError(error, cancelled !== undefined);
    },
  );
}

class CancelOnAbort implements AbortListener {
  cancelled: Promise<void> | undefined = undefined;

  constructor(private readonly cancel: () => Promise<void>) {}

  handleEvent(): void {
    this.cancelled = this.cancel();
  }
}
