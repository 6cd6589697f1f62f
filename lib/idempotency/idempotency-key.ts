/**
 * The grammar of the header `Idempotency-Key`: a string in quotes (RFC 8941 section 3.3.3), or the same characters without quotes, as many
 * clients send them. Both forms of a key are equal. A key has 1 to 255 characters of ASCII.
 *
 * @example
 * parseIdempotencyKey('"7c0f"'); // "7c0f", as for 7c0f without quotes
 */

export const MAX_KEY_LENGTH = 255;

/** Any printable character; a quote and a backslash after a backslash. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** Without spaces, quotes, backslashes, commas and semicolons: Node joins repeated headers with a comma. */
const BARE = /^[!#-+\--:<-[\]-~]+$/;

/** Returns `undefined` for a header that is no key. */
export function parseIdempotencyKey(header: string): string | undefined {
  const quoted = QUOTED.exec(header)?.[1]?.replaceAll(/\\(.)/g, "$1");
  const key = quoted ?? (BARE.test(header) ? header : "");
  return key.length >= 1 && key.length <= MAX_KEY_LENGTH ? key : undefined;
}
