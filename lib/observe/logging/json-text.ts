/**
 * The two kinds of text in a log line: JSON strings, well-formed for every string (lone surrogates included) and never cut; and timestamps
 * in RFC 3339, in UTC with milliseconds and `Z`.
 */

/** For strings up to this length, a loop is faster than a regular expression. */
const MAX_LOOP_LENGTH = 16;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_SURROGATE = 0xd800;
// One class of characters, so the pattern does not backtrack.
// oxlint-disable-next-line no-control-regex
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** The last moment that a `Date` can hold, in milliseconds since the Unix epoch. */
const MAX_DATE_MS = 8.64e15;

/** The string with its quotation marks, escaped where necessary. */
export function toJsonString(text: string): string {
  return needsNoEscape(text) ? `"${text}"` : JSON.stringify(text);
}

/** True if the string can stand between quotation marks as it is. May be `false` for some strings that need no escape. */
export function needsNoEscape(text: string): boolean {
  const { length } = text;
  if (length > MAX_LOOP_LENGTH) return !NEEDS_ESCAPE.test(text);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < FIRST_PRINTABLE || unit === QUOTATION_MARK || unit === BACKSLASH || unit >= FIRST_SURROGATE)
      return false;
  }
  return true;
}

/** The same text in one piece of memory: for text that is put together once and written often. */
export function flatten(text: string): string {
  // The engine stores a concatenation as a tree until code reads it, here as a number. After that it is one piece.
  Number(text);
  return text;
}

/** Rounds down to whole milliseconds. A time outside the range of `Date` becomes the Unix epoch. */
export function floorMilliseconds(milliseconds: number): number {
  return Math.abs(milliseconds) <= MAX_DATE_MS ? Math.floor(milliseconds) : 0;
}

/** @param milliseconds Since the Unix epoch. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(floorMilliseconds(milliseconds)).toISOString();
}
