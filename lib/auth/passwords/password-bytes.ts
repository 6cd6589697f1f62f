/** The bytes of a password that are hashed. */

/** The longest password, in bytes of UTF-8 after the normalization. */
export const MAX_PASSWORD_BYTES = 1024;
/** A longer text is not normalized. No text shrinks to a quarter of its length. */
const MAX_TEXT_LENGTH = 4 * MAX_PASSWORD_BYTES;

/**
 * In the form NFKC, so that a password is the same on each keyboard (NIST SP 800-63B-4 section 3.1.1.2). `undefined` for an empty text, one
 * that is too long, one with half of a surrogate pair, which UTF-8 cannot hold, and one with NUL: scrypt takes `a` and `a` with NUL for the
 * same (the padding of RFC 2104 section 2).
 */
export function toPasswordBytes(password: unknown): Buffer | undefined {
  if (typeof password !== "string" || password === "" || password.length > MAX_TEXT_LENGTH) return undefined;
  if (password.includes("\0") || !password.isWellFormed()) return undefined;
  const bytes = Buffer.from(password.normalize("NFKC"));
  return bytes.length > MAX_PASSWORD_BYTES ? undefined : bytes;
}
