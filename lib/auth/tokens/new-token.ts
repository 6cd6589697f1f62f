/** The checks of a token that somebody creates: a form may have chosen its name and its scopes. */
import { ValidationError } from "../../errors/framework-error.js";

export interface NewToken {
  /** For the list of the user: 1 to 100 characters. */
  readonly name: string;
  /**
   * What the token may do: at most 32 words of the application, such as `links:read`, of at most 64 letters, digits and `: . _ - /`. The
   * framework gives them no meaning.
   */
  readonly scopes: readonly string[];
  /** The token is valid before this time. Without it the token has no end. */
  readonly expiresAt?: Date | undefined;
  /** The tag of the language of the notice to the owner, for an application with languages. */
  readonly language?: string | undefined;
}

const MAX_NAME_LENGTH = 100;
const MAX_SCOPES = 32;
/** The scopes of RFC 6749 section 3.3 may have further characters, which a header or a list in a setting would have to quote. */
const SCOPE = /^[\w:./-]{1,64}$/;

/** @throws ValidationError (422) at `name`, `scopes` or `expiresAt` */
export function checkNewToken({ name, scopes, expiresAt }: NewToken, now: number) {
  return {
    name: requireName(name),
    scopes: requireScopes(scopes),
    expiresAt: expiresAt === undefined ? undefined : requireFuture(expiresAt, now),
  };
}

function requireName(name: string): string {
  // A JavaScript caller may pass any value, here and below.
  const trimmed = typeof name === "string" && name.length <= 2 * MAX_NAME_LENGTH ? name.trim() : "";
  if (trimmed === "" || trimmed.length > MAX_NAME_LENGTH)
    throw refuse("name", "length", `has no character, or more than ${MAX_NAME_LENGTH}`);
  // Lone surrogates belong to the category Cs.
  if (/[\p{Cc}\p{Cs}]/u.test(trimmed)) throw refuse("name", "characters", "has a control character");
  return trimmed;
}

function requireScopes(scopes: readonly string[]): readonly string[] {
  if (!Array.isArray(scopes) || scopes.length > MAX_SCOPES)
    throw refuse("scopes", "length", `is a list of at most ${MAX_SCOPES} words`);
  if (!scopes.every((scope) => typeof scope === "string" && SCOPE.test(scope)))
    throw refuse("scopes", "characters", "has a word that is no scope");
  return Object.freeze([...new Set(scopes)]);
}

function requireFuture(expiresAt: Date, now: number): number {
  const time = expiresAt instanceof Date ? expiresAt.getTime() : Number.NaN;
  if (time > now) return time;
  throw refuse("expiresAt", "past", "is no time in the future");
}

function refuse(field: keyof NewToken, code: string, message: string): ValidationError {
  return new ValidationError({ [field]: [{ code, message }] });
}
