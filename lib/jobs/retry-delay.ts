/** The wait before the next attempt of a job: 1 s after the first one, twice as long after each further one, at most 1 hour. */

const FIRST_MS = 1000;
const LONGEST_MS = 3_600_000;

/** @param attempt the attempt that failed, from 1 */
export function retryDelay(attempt: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(attempt - 1, 30), LONGEST_MS);
}
