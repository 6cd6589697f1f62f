/**
 * One mutex for each key of a job. Outside a transaction, a process runs one dispatch per key at a time. The other dispatches with the key
 * wait without a connection.
 *
 * Not for dispatches in a transaction: they have a connection already.
 */
import { type FrameworkError, UnavailableError } from "../../../errors/framework-error.js";
import { type Clock, OVERDUE, within } from "../../../runtime/clock.js";

/** Less than the time for which a caller waits for a connection of the pool. */
export const MAX_KEY_WAIT_MS = 2000;

export interface KeyedDispatch {
  /** The name of the job, for messages. */
  readonly name: string;
  readonly hash: string;
}

export class KeyMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  /** @throws FrameworkError `E_JOB_KEY` when the dispatches before this one take too long */
  async run<T>({ name, hash }: KeyedDispatch, clock: Clock, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(hash);
    const running = this.after(before, { name, clock, work });
    // A dispatch that timed out must not let its successors overtake its predecessor.
    const settled = Promise.allSettled([before, running]);
    this.last.set(hash, settled);
    try {
      return await running;
    } finally {
      if (this.last.get(hash) === settled) this.last.delete(hash);
    }
  }

  private async after<T>(
    before: Promise<unknown> | undefined,
    { name, clock, work }: { readonly name: string; readonly clock: Clock; readonly work: () => Promise<T> },
  ): Promise<T> {
    if (before !== undefined && (await within(clock, MAX_KEY_WAIT_MS, before)) === OVERDUE)
      throw createKeyLockedError(name);
    return work();
  }
}

/** The error of a dispatch whose key another transaction has locked for too long. */
export function createKeyLockedError(name: string): FrameworkError {
  return unavailable(
    `another transaction has locked the key of a job ${name} for ${MAX_KEY_WAIT_MS} ms: dispatch jobs with a key at the end of a transaction`,
  );
}

/** The error of a dispatch that meets another job with its key at each try, and finds that job completed afterwards. */
export function createKeyContentionError(name: string): FrameworkError {
  return unavailable(`jobs of ${name} with one key come and go too fast to add one`);
}

function unavailable(message: string): FrameworkError {
  const error = new UnavailableError("The job cannot be added at the moment.", { code: "E_JOB_KEY" });
  error.message = message;
  return error;
}
