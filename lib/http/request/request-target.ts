/**
 * Splits a request target, in each of its forms (RFC 9112 section 3.2), into the path and the query, which is never logged. A fragment is
 * not part of a target, so it is dropped. The authority of the absolute form is dropped too. This file also checks the targets that an
 * application computes. Not for other URLs of an application, which are `URL` objects.
 */
import { parseUrl } from "./origin.js";
import { hasControlCharacter } from "../response/field-value.js";

const SLASH = 0x2f;

/** The raw path, without query and fragment; `*` of the asterisk form. */
export function getPath(target: string): string {
  const end = findPathEnd(target);
  if (target.charCodeAt(0) === SLASH) return target.slice(0, end);
  const authority = target.indexOf("://");
  if (authority < 0 || authority > end) return target.slice(0, end);
  const slash = target.indexOf("/", authority + 3);
  return slash < 0 || slash > end ? "/" : target.slice(slash, end);
}

/** The query with its `?`; `""` where there is none. */
export function getQuery(target: string): string {
  const start = target.indexOf("?");
  if (start < 0) return "";
  const fragment = target.indexOf("#");
  if (fragment < 0) return target.slice(start);
  return fragment < start ? "" : target.slice(start, fragment);
}

function findPathEnd(target: string): number {
  const query = target.indexOf("?");
  const fragment = target.indexOf("#");
  if (query < 0) return fragment < 0 ? target.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}

/**
 * Checks a target on this server that the application computed, mostly from data of the client: no scheme, no authority, no fragment.
 * Returns it in ASCII; `undefined` if it may lead to another server.
 */
export function toLocalTarget(url: string): string | undefined {
  return isPath(url) && !url.includes("#") ? toAscii(url) : undefined;
}

/** Checks the target of a redirect: a path of this server, or an absolute http(s) URL. Returns it in ASCII, or `undefined`. */
export function toRedirectTarget(location: string): string | undefined {
  if (isPath(location)) return location.includes("\\") ? undefined : toAscii(location);
  const isAbsolute = /^https?:\/\/[^/\\]/i.test(location) && !hasControlCharacter(location);
  const url = isAbsolute ? parseUrl(location) : undefined;
  if (url === undefined) return undefined;
  return isVisibleAscii(location) ? location : url.href;
}

/** Two slashes would start an authority (RFC 3986 section 4.2). */
function isPath(url: string): boolean {
  return url.startsWith("/") && !url.startsWith("//") && !hasControlCharacter(url);
}

function isVisibleAscii(text: string): boolean {
  return /^[!-~]*$/.test(text);
}

function toAscii(url: string): string | undefined {
  if (isVisibleAscii(url)) return url;
  try {
    return url.replace(/[^!-~]+/gu, encodeURIComponent);
  } catch {
    // Half of a surrogate pair has no encoding.
    return undefined;
  }
}
