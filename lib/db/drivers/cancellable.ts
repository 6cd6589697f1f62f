/** A statement on a server that is cancelled when the request that asked for it has ended. */
import { type Abortable, type AbortListener, offAbort, onAbort } from "../../runtime/abortable.js";

export interface Cancelling<T> {
  /** The statement, which was sent. */
  readonly running: Promise<T>;
  /** Resolves when the connection can be used again or is destroyed. */
  readonly cancel: (running: Promise<T>) => Promise<void>;
  /** What the caller gets for an error of the statement. */
  readonly translateError: (error: unknown, isCancelled: boolean) => unknown;
}

/** Settles as the statement does. If the statement is cancelled, waits for the end of the cancel first. */
export function cancellable<T>(
  work: Abortable,
  { running, cancel, translateError: errorOf }: Cancelling<T>,
): Promise<T> {
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
      throw errorOf(error, cancelled !== undefined);
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
