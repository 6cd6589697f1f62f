/**
 * A moment as log lines show it: RFC 3339, UTC, milliseconds, always `Z`.
 */

/** The last moment a `Date` can be, in milliseconds since the Unix epoch. */
const LAST_MOMENT = 8.64e15;

/** @param milliseconds Since the Unix epoch; what is no moment at all is shown as the epoch. */
export function timestamp(milliseconds: number): string {
  return new Date(Math.abs(milliseconds) <= LAST_MOMENT ? milliseconds : 0).toISOString();
}
