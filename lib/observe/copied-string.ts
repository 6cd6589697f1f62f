/**
 * The same text with nothing behind it. A piece cut out of a long text (a body, a header line) keeps all of it alive for as long as the
 * piece is kept; so what is remembered beyond its request is copied first.
 *
 * For well-formed text: a lone surrogate would become U+FFFD.
 */

/** Up to here the engine copies what is cut out. */
const NEVER_SHARED = 12;

export function copiedString(text: string): string {
  // Cutting it out of a sum would copy it faster, but what is cut out compares at half the speed, every time.
  return text.length <= NEVER_SHARED ? text : Buffer.from(text).toString();
}
