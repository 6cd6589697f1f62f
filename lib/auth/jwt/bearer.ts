/**
 * The guard of access tokens of an issuer, as values. A front end may import them with its tables: they load nothing of Node.
 * `tokenVerification()` provides the code on the server, and `build()` refuses a route whose issuer has none.
 *
 * @example
 * export const company = issuer("company");
 *
 * export const orders = routes("orders", "/orders", {
 *   list: Get("/", { guards: [bearer(company, { scopes: ["orders:read"] })] }),
 * });
 */
import { guard, type Guard, type GuardUse, isGuard } from "../../endpoints/guard.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";

/** Who sends a request, as the token says. A handler may log it but for `claims`, which may hold personal data. */
export interface BearerIdentity {
  /** The claim `sub`: a person, or for a token without one a program. It is unique with the issuer alone. */
  readonly subject: string;
  /** The claim `iss`. */
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** The program that the token was issued to, where the token says it. */
  readonly clientId: string | undefined;
  /** All claims, as the issuer wrote them: check the types of those beyond the standard. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The value that `bearer` adds to the context of a handler. */
export interface WithBearerIdentity {
  readonly identity: BearerIdentity;
}

export interface BearerOptions {
  /** The token has all of them. */
  readonly scopes?: readonly string[];
}

/** An issuer of access tokens, by a name of the application. */
export interface Issuer {
  readonly name: string;
  /** Use `bearer`. */
  readonly guard: Guard<WithBearerIdentity, readonly string[]>;
}

/** RFC 6749 section 3.3: a word without spaces. */
export function isScope(value: unknown): value is string {
  return typeof value === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value);
}

/**
 * Declares an issuer. Its address, which differs between environments, is in `tokenVerification()` on the server.
 *
 * @param name for messages and logs: letters, digits, `.`, `_` and `-`
 * @throws FrameworkError `E_GUARD` for another name
 */
export function issuer(name: string): Issuer {
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name))
    throw createSetupError(
      "E_GUARD",
      `issuer(…) was given ${valueText(name)} for a name: give 1 to 64 letters or digits`,
    );
  const definition = guard<WithBearerIdentity, readonly string[]>(`bearer of ${name}`, { scheme: "bearer" });
  return Object.freeze({ name, guard: definition });
}

/**
 * A valid access token of the issuer in the `Authorization` header, with all of these scopes. Adds `identity`; refuses with 401, and with a
 * 403 of the type `scope`. While the keys of the issuer cannot be read, it refuses with 503.
 *
 * @throws FrameworkError `E_GUARD` for a value that is no issuer, and for a text that is no scope
 */
export function bearer(given: Issuer, { scopes = [] }: BearerOptions = {}): GuardUse<WithBearerIdentity> {
  const definition: unknown = Reflect.get(Object(given), "guard");
  if (!isGuard(definition))
    throw createSetupError("E_GUARD", `bearer(…) was given ${valueText(given)}: give a value of issuer(…)`);
  const wrong = Array.isArray(scopes) ? scopes.find((each) => !isScope(each)) : scopes;
  if (wrong !== undefined)
    throw createSetupError("E_GUARD", `bearer(…) has the scope ${valueText(wrong)}: give a list of words`);
  return given.guard(...scopes);
}
