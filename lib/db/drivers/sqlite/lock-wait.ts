/**
 * The wait for a lock that another process holds. A wait inside the engine would block this process. So the work is retried after a pause,
 * which grows and is random.
 */
import { type Clock, sleep } from "../../../runtime/clock.js";
import { isBusy } from "./sqlite-failure.js";

const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 100;

/**
 * Retries `work` while the file is locked. Rejects with the error of the engine after `waitMs`, or with the reason of the signal. Only for
 * work that has no effect where the lock refuses it.
 */
export async function retryWhileLocked<T>(
  clock: Clock,
  waitMs: number,
  work: () => T,
  signal?: AbortSignal,
): Promise<T> {
  const startedAt = clock.monotonic();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    signal?.throwIfAborted();
    try {
      return work();
    } catch (error) {
      const left = waitMs - (clock.monotonic() - startedAt);
      if (!isBusy(error) || left <= 0) throw error;
      await sleep(clock, Math.min(pause * (0.5 + Math.random() / 2), left), signal);
    }
  }
}
