/**
 * Checks names and values of HTTP fields (RFC 9110 section 5): those that the application sets, when it is built, and lists that a
 * client sends, before they are sent back to it.
 */

/** Whether `text` is a token, as field names and methods are. */
export function isToken(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isTokenCharacter(text.charCodeAt(at))) return false;
  return text !== "";
}

/** Whether `text` is a list of tokens, separated by commas and spaces. */
export function isTokenList(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x2c && code !== 0x20 && code !== 0x09 && !isTokenCharacter(code)) return false;
  }
  return true;
}

/** Whether `text` has a control character, for example CR or LF. */
export function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Whether Node can write `text` as the value of a field: visible characters and whitespace of Latin-1. */
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

// The optional whitespace of HTTP is spaces and tabs (RFC 9110 section 5.6.3); `String#trim` would remove more.

/** Whether a UTF-16 code unit is a space or a tab. */
export function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Removes the whitespace at both ends. */
export function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text.charCodeAt(start))) start++;
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
