/**
 * The field names that hold secrets, and the marker that replaces their values. The JSON log applies both to every field at every depth;
 * use them directly only if you write fields to another destination.
 *
 * Redaction checks names, never values: it does not find a secret under a harmless name or inside a message.
 *
 * @example
 * redact.apply("x-api-key", key); // "[redacted]"
 * redact.apply("note", note); // note
 */
import { copyString } from "../copy-string.js";

/** Written in place of a redacted value. */
export const REDACTED = "[redacted]";

/** A name that contains one of these patterns is sensitive. Lower case, sorted, frozen. */
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

const MAX_REMEMBERED_NAMES = 2048;
const MAX_REMEMBERED_LENGTH = 128;

/**
 * Patterns that make a field name sensitive if they stand anywhere in it. `-` and `.` match `_`, and A to Z match a to z; no other
 * character is folded. Results are remembered, because a program logs the same few hundred names again and again; the memory is bounded,
 * because names may come from outside.
 */
export class RedactionPatterns {
  readonly #expression: RegExp;
  readonly #results = new Map<string, boolean>();

  /** @param patterns Non-empty texts, folded as the names are. */
  constructor(readonly patterns: readonly string[]) {
    this.#expression = new RegExp(patterns.map(toExpression).join("|"));
  }

  /** True if `name` contains one of the patterns. */
  matches(name: string): boolean {
    return this.#results.get(name) ?? this.#test(name);
  }

  #test(name: string): boolean {
    const result = this.#expression.test(name);
    if (name.length > MAX_REMEMBERED_LENGTH) return result;
    if (this.#results.size >= MAX_REMEMBERED_NAMES) this.#results.clear();
    const copy = copyString(name);
    // The copy of a name with a lone surrogate is another name, so its result is not remembered.
    if (copy === name) this.#results.set(copy, result);
    return result;
  }
}

const defaultPatterns = new RedactionPatterns(DENY_LIST);

/**
 * True if the value of a field with this name is redacted: the name, with `-` and `.` as `_` and A to Z as a to z, contains a pattern of
 * `DENY_LIST`. No other character is folded: `privateKey` is not sensitive, `author` is.
 */
export function isSensitive(field: string): boolean {
  return defaultPatterns.matches(field);
}

/** `REDACTED` if the name is sensitive, else `value`. */
export function apply<T>(field: string, value: T): T | typeof REDACTED {
  return defaultPatterns.matches(field) ? REDACTED : value;
}

// One-character classes only: a single scan without backtracking. The flag `i` would fold more characters.
function toExpression(pattern: string): string {
  return Array.from({ length: pattern.length }, (_, index) => toCharacterClass(pattern.charAt(index))).join("");
}

function toCharacterClass(character: string): string {
  if (/[_.-]/.test(character)) return "[_.-]";
  if (/[a-zA-Z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
