/**
 * What may stand in an HTTP field: names and values that the application gives, checked when it is built, and lists that a client
 * sends, checked before they are repeated to it (RFC 9110 section 5).
 */

/** Whether `text` is a token: a field name, a method. */
export function isToken(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isTokenCharacter(text.charCodeAt(at))) return false;
  return text !== "";
}

/** Whether `text` is tokens with commas and blanks between them. */
export function isTokenList(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x2c && code !== 0x20 && code !== 0x09 && !isTokenCharacter(code)) return false;
  }
  return true;
}

/** Whether `text` has a character below the blank, or DEL: CR and LF above all. */
export function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Whether Node can write `text` as a field's value as it is: visible characters and blanks of Latin-1. */
export function isFieldValue(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return false;
  return !hasControlCharacter(text);
}

const SPECIAL: ReadonlySet<number> = new Set(Buffer.from("!#$%&'*+-.^_`|~"));

function isTokenCharacter(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isDigit || isLetter || SPECIAL.has(code);
}

// Optional white space as HTTP has it: spaces and tabs (RFC 9110 section 5.6.3), and nothing else that `String#trim` would take.

/** Whether a UTF-16 code unit is a space or a tab. */
export function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Without the blanks at either end. */
export function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text.charCodeAt(start))) start++;
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
