/**
 * Text as JSON. Well-formed for every string, lone surrogates included; never cut.
 */

/** Up to here a loop is faster than the call into a regular expression. */
const SHORT = 16;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_SURROGATE = 0xd800;
// One class of characters: one look at each, nothing to backtrack into.
// oxlint-disable-next-line no-control-regex
const TO_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** The string with its quotation marks, escaped where it must be. */
export function jsonText(text: string): string {
  return isPlainText(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether the string can stand between quotation marks as it is. May say no where yes would be right, never the reverse. */
export function isPlainText(text: string): boolean {
  const { length } = text;
  if (length > SHORT) return !TO_ESCAPE.test(text);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < FIRST_PRINTABLE || unit === QUOTATION_MARK || unit === BACKSLASH || unit >= FIRST_SURROGATE)
      return false;
  }
  return true;
}

/** The same text, laid out in one piece: for what is put together once and written often. */
export function oneText(text: string): string {
  // A concatenation is a tree until someone reads it, as a number for example; from then on it is one piece.
  Number(text);
  return text;
}
