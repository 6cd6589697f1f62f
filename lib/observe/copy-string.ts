/**
 * Copies a string that outlives its request. The engine keeps a whole long text (a body, a header line) in memory for as long as a part
 * that was cut out of it is in memory; a copy does not have this effect.
 *
 * Only for well-formed text: a lone surrogate becomes U+FFFD.
 */

/** The engine itself copies a part of at most this length. */
const MAX_LENGTH_ENGINE_COPIES = 12;

export function copyString(text: string): string {
  // Concatenating and slicing would copy faster, but each comparison of such a string takes twice as long.
  return text.length <= MAX_LENGTH_ENGINE_COPIES ? text : Buffer.from(text).toString();
}
