/** Optional white space as HTTP has it: spaces and tabs (RFC 9110 section 5.6.3), and nothing else that `String#trim` would take. */

/** Whether a UTF-16 code unit is a space or a tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Without the blanks at either end. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
