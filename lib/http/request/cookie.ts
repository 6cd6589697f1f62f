/**
 * The cookies of the stages of the framework: their values in a request, and the `Set-Cookie` line of a response (RFC 6265). `addSetCookie`
 * writes the line for `SessionCookie` and `CsrfToken`. Handlers use `ctx.cookies`.
 */
import type { ServerResponse } from "node:http";
import { createSetupError } from "../../errors/setup-error.js";

export type SameSite = "Strict" | "Lax" | "None";

/** The attributes of one cookie. They are checked when its stage is configured. */
export interface CookieAttributes {
  readonly name: string;
  readonly path: string;
  readonly domain: string | undefined;
  readonly secure: boolean;
  readonly sameSite: SameSite;
  readonly httpOnly: boolean;
}

/** A token of RFC 9110 section 5.6.2, of which the name of a cookie consists. */
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const PATH = /^\/[\x20-\x3a\x3c-\x7e]*$/;
const DOMAIN = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*$/i;
const SAME_SITES: readonly unknown[] = ["Strict", "Lax", "None"];

/**
 * The attributes, if browsers accept a cookie with them.
 *
 * @throws FrameworkError with `code`
 */
export function checkCookie(cookie: CookieAttributes, code: string): CookieAttributes {
  const fault = findFault(cookie);
  if (fault !== undefined) throw createSetupError(code, fault);
  return cookie;
}

function findFault({ name, path, domain, secure, sameSite }: CookieAttributes): string | undefined {
  if (typeof name !== "string" || !NAME.test(name)) {
    return `${JSON.stringify(name)} cannot be the name of a cookie: use letters, digits, "-" and "_"`;
  }
  if (typeof path !== "string" || !PATH.test(path)) {
    return `${JSON.stringify(path)} cannot be the path of a cookie: it starts with "/" and has no ";"`;
  }
  if (domain !== undefined && (typeof domain !== "string" || !DOMAIN.test(domain))) {
    return `${JSON.stringify(domain)} cannot be the domain of a cookie: give a host name without a dot in front`;
  }
  if (typeof secure !== "boolean") return `secure is true or false, not ${JSON.stringify(secure)}`;
  if (!SAME_SITES.includes(sameSite)) return `sameSite is "Strict", "Lax" or "None", not ${JSON.stringify(sameSite)}`;
  if (sameSite === "None" && !secure)
    return "browsers refuse SameSite=None without Secure: set secure to true, or sameSite to Lax";
  return findPrefixFault(name.toLowerCase(), path, domain, secure);
}

/** The rules of the prefixes (RFC 6265bis section 4.1.3), which browsers apply without regard to case. */
function findPrefixFault(name: string, path: string, domain: string | undefined, secure: boolean): string | undefined {
  if (name.startsWith("__host-") && (!secure || domain !== undefined || path !== "/")) {
    return 'browsers refuse a cookie named __Host-… without Secure, with a Domain, or with a path other than "/"; correct these or the name';
  }
  return name.startsWith("__secure-") && !secure
    ? "browsers refuse a cookie named __Secure-… without Secure: set secure to true, or choose another name"
    : undefined;
}

/** The attributes of the `Set-Cookie` line without `Max-Age`. They are known when the application is built. */
export function formatAttributes({ path, domain, secure, sameSite, httpOnly }: CookieAttributes): string {
  const parts = [`; Path=${path}`];
  if (domain !== undefined) parts.push(`; Domain=${domain}`);
  if (httpOnly) parts.push("; HttpOnly");
  if (secure) parts.push("; Secure");
  parts.push(`; SameSite=${sameSite}`);
  return parts.join("");
}

/** Adds a `Set-Cookie` line to those that the response already has. */
export function addSetCookie(raw: ServerResponse, line: string): void {
  raw.appendHeader("Set-Cookie", line);
}

/**
 * Whether the response is a 304. A 304 gets no cookie of the framework, because the client shows its stored page, which contains the token
 * of the earlier response.
 */
export function isNotModified({ statusCode }: ServerResponse): boolean {
  return statusCode === 304;
}

/** Whether the response allows shared caches to store it (RFC 9111 section 5.2.2). */
export function isForSharedCaches(raw: ServerResponse): boolean {
  const policy = raw.getHeader("Cache-Control");
  return policy !== undefined && /(?:^|[\s,])(?:public|s-maxage)(?:$|[\s,=])/i.test(String(policy));
}

/**
 * The values of the first `max` cookies with that name. A client may send a name twice: a sibling host can set a cookie with the same name
 * and a longer path, which comes first (RFC 6265 section 5.4). Cookies with other names cost a scan, but no memory.
 */
export function readCookieValues(header: string | undefined, name: string, max: number): readonly string[] {
  if (header === undefined) return NONE;
  let values: string[] | undefined;
  for (let at = header.indexOf(name); at >= 0; at = header.indexOf(name, at + name.length)) {
    const start = at + name.length;
    if (header.charCodeAt(start) !== EQUALS || !isPairStart(header, at)) continue;
    const end = header.indexOf(";", start);
    (values ??= []).push(header.slice(start + 1, end < 0 ? undefined : end).trim());
    if (values.length === max) break;
  }
  return values ?? NONE;
}

const NONE: readonly string[] = Object.freeze([]);
const EQUALS = 0x3d;

/** Whether only spaces stand between `at` and the semicolon in front of it, or the start. */
function isPairStart(header: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && (header[before] === " " || header[before] === "\t")) before--;
  return before < 0 || header[before] === ";";
}
