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
import { copiedString } from "../copied-string.js";

/**
 * Finds needles in field names the way redaction asks for: `-` and `.` count as `_`, A to Z count as a to z, nothing
 * else is folded, and a needle may stand anywhere in the name. Verdicts are remembered, because a program logs the same
 * few hundred names over and over; the memory is bounded, because names may come from outside.
 */
const REMEMBERED_NAMES = 2048;
const REMEMBERED_LENGTH = 128;

export class RedactionPatterns {
  readonly #pattern: RegExp;
  readonly #verdicts = new Map<string, boolean>();

  /** @param patterns None empty; folded like the names they are looked for in. */
  constructor(readonly patterns: readonly string[]) {
    this.#pattern = new RegExp(patterns.map(pattern).join("|"));
  }

  matches(name: string): boolean {
    return this.#verdicts.get(name) ?? this.#judge(name);
  }

  #judge(name: string): boolean {
    const verdict = this.#pattern.test(name);
    if (name.length > REMEMBERED_LENGTH) return verdict;
    if (this.#verdicts.size >= REMEMBERED_NAMES) this.#verdicts.clear();
    const kept = copiedString(name);
    // A name that is not well-formed would be remembered as another one.
    if (kept === name) this.#verdicts.set(kept, verdict);
    return verdict;
  }
}

// Alternatives of one-character classes: a single scan, with nothing to backtrack into. The `i` flag would fold more.
function pattern(needle: string): string {
  return Array.from({ length: needle.length }, (_, index) => unit(needle.charAt(index))).join("");
}

function unit(character: string): string {
  if (/[_.-]/.test(character)) return "[_.-]";
  if (/[a-zA-Z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

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

const denied = new RedactionPatterns(DENY_LIST);

/**
 * Whether a field of this name is withheld: `-` and `.` become `_`, A to Z become a to z, and then any needle of
 * `DENY_LIST` is found in it. Nothing else is folded: `privateKey` is not sensitive, `author` is.
 */
export function isSensitive(field: string): boolean {
  return denied.matches(field);
}

/** `REDACTED` where the name is sensitive, else `value` itself. */
export function apply<T>(field: string, value: T): T | typeof REDACTED {
  return denied.matches(field) ? REDACTED : value;
}
