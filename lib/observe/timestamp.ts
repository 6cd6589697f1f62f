/**
 * A moment as log lines show it: RFC 3339, UTC, milliseconds, always `Z`.
 */

/** The last moment a `Date` can be, in milliseconds since the Unix epoch. */
const LAST_MOMENT = 8.64e15;

/** The moment in whole milliseconds since the Unix epoch; the epoch itself for what is no moment at all. */
export function momentOf(milliseconds: number): number {
  return Math.abs(milliseconds) <= LAST_MOMENT ? Math.floor(milliseconds) : 0;
}

export function timestamp(milliseconds: number): string {
  return new Date(momentOf(milliseconds)).toISOString();
}
