/**
 * A request target taken apart (RFC 9112 section 3.2), whatever its form: the path, and the query that is never logged. A fragment is no
 * part of a target and is dropped; so is the authority of the absolute form.
 *
 * Not for the URLs an application makes: those are `URL`s.
 */
import { hasControlCharacter } from "./field-value.js";

/**
 * A request target taken apart (RFC 9112 section 3.2), whatever its form: the path, and the query that is never logged. A fragment is no
 * part of a target and is dropped; so is the authority of the absolute form.
 *
 * Not for the URLs an application makes: those are `URL`s.
 */
const SLASH = 0x2f;

/** The path, raw; `*` of the asterisk form. Never anything behind a `?` or a `#`. */
export function pathOf(target: string): string {
  const end = endOfPath(target);
  if (target.charCodeAt(0) === SLASH) return target.slice(0, end);
  const authority = target.indexOf("://");
  if (authority < 0 || authority > end) return target.slice(0, end);
  const slash = target.indexOf("/", authority + 3);
  return slash < 0 || slash > end ? "/" : target.slice(slash, end);
}

/** The query with its `?`; `""` where there is none. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  if (start < 0) return "";
  const fragment = target.indexOf("#");
  if (fragment < 0) return target.slice(start);
  return fragment < start ? "" : target.slice(start, fragment);
}

function endOfPath(target: string): number {
  const query = target.indexOf("?");
  const fragment = target.indexOf("#");
  if (query < 0) return fragment < 0 ? target.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}

// Targets that an application computes, nearly always out of what a client sent: checked before anything is sent there. Both
// functions return the target in ASCII, or `undefined` for one that would lead somewhere else than it says.

/** A path and query of this server: no scheme, no authority, no fragment. */
export function localTarget(url: string): string | undefined {
  return isPath(url) && !url.includes("#") ? inAscii(url) : undefined;
}

/** Where a redirect may lead: a path of this server, or an absolute http(s) URL. */
export function redirectTarget(location: string): string | undefined {
  if (isPath(location)) return location.includes("\\") ? undefined : inAscii(location);
  const isAbsolute = /^https?:\/\/[^/\\]/i.test(location) && !hasControlCharacter(location) && URL.canParse(location);
  if (!isAbsolute) return undefined;
  return isVisibleAscii(location) ? location : new URL(location).href;
}

/** Two slashes would begin an authority (RFC 3986 section 4.2). */
function isPath(url: string): boolean {
  return url.startsWith("/") && !url.startsWith("//") && !hasControlCharacter(url);
}

function isVisibleAscii(text: string): boolean {
  return /^[!-~]*$/.test(text);
}

function inAscii(url: string): string | undefined {
  if (isVisibleAscii(url)) return url;
  try {
    return url.replace(/[^!-~]+/gu, encodeURIComponent);
  } catch {
    // Half of a surrogate pair has no encoding.
    return undefined;
  }
}
