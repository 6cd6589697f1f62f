/**
 * The options of CORS and their check. A policy that no browser accepts, or that allows more than its author expects, is refused when the
 * application is built.
 */
import { valueText } from "../../errors/value-text.js";
import type { Context } from "../../http/request/context.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { isToken } from "../../http/response/field-value.js";

/** Decides whether an origin may read the response. It is never called for the origin `null`. */
export type OriginPredicate = (origin: string, ctx: Context) => boolean | Promise<boolean>;

export interface CorsOptions {
  /** Exact origins (`https://app.example`), a predicate, or `"*"` for all origins. `"null"` is allowed in the list only. */
  readonly origins: "*" | readonly string[] | OriginPredicate;
  /** Methods that a preflight allows; GET, HEAD, POST, PUT, PATCH, DELETE and QUERY unless set. */
  readonly methods?: readonly string[];
  /** Request headers that a preflight allows; unless set, those that the browser asks for. */
  readonly allowHeaders?: readonly string[];
  /** Response headers that a page may read, in addition to the safelisted ones; none unless set. */
  readonly exposeHeaders?: readonly string[];
  /** Whether browsers may send cookies and HTTP authentication; false unless set. Not together with a `"*"`. */
  readonly credentials?: boolean;
  /** The seconds for which a browser may cache the response to a preflight. */
  readonly maxAge?: number;
  /** Whether a page of the public network may reach this server in a private network, when the browser asks; false unless set. */
  readonly privateNetwork?: boolean;
}

export const DEFAULT_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY"] as const;

/** @throws FrameworkError with a code `E_CORS_…` for the first fault of `options` */
export function checkCorsOptions(options: CorsOptions): void {
  checkOrigins(options);
  checkTokens("methods", options.methods, "E_CORS_METHOD");
  checkTokens("allowHeaders", options.allowHeaders, "E_CORS_HEADER");
  checkTokens("exposeHeaders", options.exposeHeaders, "E_CORS_HEADER");
  // Any truthy value enables credentials, so the check accepts any truthy value.
  if (options.credentials) checkWildcards(options);
  const { maxAge = 0 } = options;
  if (!Number.isSafeInteger(maxAge) || maxAge < 0) {
    throw createFault(
      "E_CORS_MAX_AGE",
      `maxAge ${valueText(maxAge)} is not a number of seconds; give a whole number from 0 on`,
    );
  }
}

function checkOrigins({ origins }: Partial<CorsOptions> = {}): void {
  if (origins === "*" || typeof origins === "function") return;
  if (!Array.isArray(origins) || origins.length === 0) {
    throw createFault(
      "E_CORS_ORIGINS",
      'origins are missing; give a list such as ["https://app.example"], a predicate or "*"',
    );
  }
  for (const origin of origins) checkOrigin(valueText(origin));
}

function checkOrigin(origin: string): void {
  if (origin === "null") return;
  const text = origin.toLowerCase();
  const isWeb = text.startsWith("http://") || text.startsWith("https://");
  // Browsers send no default port and no trailing slash, so an entry with one would never match.
  const isExact = !isWeb || (URL.canParse(text) && new URL(text).origin === text);
  if (isOrigin(text) && isExact) return;
  throw createFault("E_CORS_ORIGINS", `${JSON.stringify(origin)} is not an origin; ${describeFix(origin)}`);
}

function describeFix(origin: string): string {
  if (origin === "*") return 'write origins: "*" for all origins';
  if (origin.includes("*")) return "a pattern is written as a predicate: (origin) => …";
  const parsed = URL.canParse(origin) ? new URL(origin).origin : "null";
  return `write ${parsed === "null" ? "scheme://host or scheme://host:port, without a path" : parsed}`;
}

function checkTokens(option: string, names: readonly string[] = [], code: string): void {
  // JavaScript callers may pass a string, and its characters would be taken as names.
  if (!Array.isArray(names)) throw createFault(code, `${option}: ${JSON.stringify(names)} is not a list of names`);
  for (const name of names) {
    if (typeof name !== "string" || !isToken(name))
      throw createFault(code, `${option}: ${JSON.stringify(name)} is not a name; remove or correct it`);
  }
}

/** With credentials, browsers read a `*` as the literal name `*` (the Fetch standard, section 3.2.5). */
function checkWildcards({ origins, methods = [], allowHeaders = [], exposeHeaders = [] }: CorsOptions): void {
  if (origins !== "*" && ![...methods, ...allowHeaders, ...exposeHeaders].includes("*")) return;
  throw createFault("E_CORS_WILDCARD", 'browsers do not accept "*" together with credentials; name what is allowed');
}

function createFault(code: string, detail: string): FrameworkError {
  return new FrameworkError(`cors: ${detail}`, { code });
}

/**
 * Whether `text` is an origin as the `Origin` header contains it (RFC 6454 section 7, the Fetch standard): `scheme://host` or
 * `scheme://host:port`. `null` is not an origin here.
 */
export function isOrigin(text: string): boolean {
  const authority = text.indexOf("://");
  if (authority < 1 || authority + 3 === text.length) return false;
  for (let at = 0; at < authority; at++) if (!isSchemeCharacter(text.charCodeAt(at))) return false;
  for (let at = authority + 3; at < text.length; at++) if (!isHostCharacter(text.charCodeAt(at))) return false;
  return true;
}

function isSchemeCharacter(code: number): boolean {
  return isLetterOrDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e;
}

/** Letters, digits, `- . _`, and `: [ ]` for a port and an IPv6 address. */
function isHostCharacter(code: number): boolean {
  return isSchemeCharacter(code) || code === 0x3a || code === 0x5b || code === 0x5d || code === 0x5f;
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}
