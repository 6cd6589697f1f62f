/** The comparison of a secret text with that of a client. Not for texts that are no secret, and not for bytes. */
import { timingSafeEqual } from "node:crypto";

/**
 * Compares texts, not bytes: the last character of base64url has spare bits, and only one spelling is accepted. The second comparison is
 * for characters beyond Latin-1, and runs only if the first one found no difference.
 */
export function isSame(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  return timingSafeEqual(Buffer.from(expected, "latin1"), Buffer.from(given, "latin1")) && expected === given;
}
