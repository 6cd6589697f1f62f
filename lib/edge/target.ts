/**
 * Targets that an application computes, nearly always out of what a client sent: checked before anything is sent there. Both
 * functions return the target in ASCII, or `undefined` for one that would lead somewhere else than it says.
 */
import { hasControlCharacter } from "./field-text.js";

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
