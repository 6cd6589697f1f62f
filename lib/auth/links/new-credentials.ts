/** The checks of an address and of a password that somebody sets. Rules beside the length are those of `AuthUsers.isPasswordAllowed`. */
import { ValidationError } from "../../errors/framework-error.js";
import type { AuthUsers } from "../auth-users.js";
import { readEmail } from "../identity.js";
import { MAX_PASSWORD_BYTES, toPasswordBytes } from "../passwords/password-bytes.js";

/** In characters (NIST SP 800-63B-4 section 3.1.1.2 for a password beside a second step; OWASP ASVS 5 section 6.2). */
const MIN_PASSWORD_LENGTH = 8;

/** The normal form. @throws ValidationError at `email` */
export function requireEmail(email: string): string {
  const address = readEmail(email);
  if (address === undefined) throw new ValidationError({ email: [{ code: "email", message: "is no e-mail address" }] });
  return address;
}

/** @throws ValidationError at `password` */
export function requireNewPassword(password: string): void {
  // A JavaScript caller may pass any value.
  const start = typeof password === "string" ? password.slice(0, 2 * MIN_PASSWORD_LENGTH) : "";
  if (Array.from(start).length < MIN_PASSWORD_LENGTH)
    throw refusePassword("too-short", `has fewer than ${MIN_PASSWORD_LENGTH} characters`);
  if (toPasswordBytes(password) === undefined)
    throw refusePassword("too-long", `has more than ${MAX_PASSWORD_BYTES} bytes, or no valid Unicode`);
}

/** After the checks that cost less: an application may ask another service. @throws ValidationError at `password` */
export async function requireAllowedPassword(users: AuthUsers, password: string, email: string): Promise<void> {
  if (await users.isPasswordAllowed(password, email)) return;
  throw refusePassword("not-allowed", "is too common, or not allowed for another reason");
}

function refusePassword(code: string, message: string): ValidationError {
  return new ValidationError({ password: [{ code, message }] });
}
