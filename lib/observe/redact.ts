/**
 * Which field names hold secrets, and the marker that stands for their values (specification, section 2.5). The JSON log
 * applies it to every field at every depth; use it by hand only where you write somewhere else yourself.
 *
 * It judges names, never values: a secret under a harmless name, or put into a message, is not found. This file is also
 * the entry point `…/observe/redact`.
 *
 * @example
 * redact.apply("x-api-key", key); // "[redacted]"
 * redact.apply("note", note); // note
 */
import { Needles } from "./needles.js";

/** What is written in place of a value that is withheld. */
export const REDACTED = "[redacted]";

/** What makes a name sensitive wherever it stands in it: lower case, sorted, frozen. */
export const DENY_LIST: readonly string[] = Object.freeze([
  "access_token",
  "api_key",
  "apikey",
  "auth",
  "bearer",
  "bind",
  "body",
  "cache_value",
  "card",
  "cookie",
  "credential",
  "csrf",
  "cvv",
  "id_token",
  "otp",
  "passphrase",
  "passwd",
  "password",
  "payload",
  "pin_code",
  "private_key",
  "pwd",
  "refresh_token",
  "secret",
  "session_id",
  "signature",
  "sql_args",
  "token",
  "verifier",
]);

const denied = new Needles(DENY_LIST);

/**
 * Whether a field of this name is withheld: `-` and `.` become `_`, A to Z become a to z, and then any needle of
 * `DENY_LIST` is found in it. Nothing else is folded: `privateKey` is not sensitive, `author` is.
 */
export function isSensitive(field: string): boolean {
  return denied.isIn(field);
}

/** `REDACTED` where the name is sensitive, else `value` itself. */
export function apply<T>(field: string, value: T): T | typeof REDACTED {
  return denied.isIn(field) ? REDACTED : value;
}
