/**
 * A place to send a browser to that cannot be another site: a path of this one, with its query and fragment, fit for a header.
 * Targets from outside (`Referer`, a form field) pass through here; a URL to another site never does.
 */
import { BadRequestError } from "../errors/framework-error.js";

/** Starts with one slash; no backslash, which browsers take for a slash, and no control character, which they drop. */
export function isSafePath(target: string): boolean {
  return target.startsWith("/") && !target.startsWith("//") && !hasBackslashOrControl(target);
}

/** The target as it stands in a header; throws `BadRequestError` with `E_UNSAFE_REDIRECT` for one that is not safe. */
export function safePath(target: string): string {
  if (typeof target === "string" && isSafePath(target)) return encoded(target);
  const detail = "a redirect needs a path of this site: one slash first, no backslash, no control character";
  throw new BadRequestError(detail, { code: "E_UNSAFE_REDIRECT" });
}

/**
 * The path and query that a `Referer` names, where it is a safe path or lies at one of the origins; else `undefined`.
 * The fragment is dropped.
 */
export function safeReferer(referer: string, origins: readonly string[]): string | undefined {
  const target = referer.startsWith("/") ? referer : pathOfOrigin(referer, origins);
  if (target === undefined || !isSafePath(target)) return undefined;
  return encoded(target.split("#", 1)[0] ?? target);
}

function pathOfOrigin(referer: string, origins: readonly string[]): string | undefined {
  // The parser would drop tabs and line breaks, and turn backslashes into slashes.
  if (hasBackslashOrControl(referer) || !URL.canParse(referer)) return undefined;
  const { origin, pathname, search } = new URL(referer);
  return origin !== "null" && origins.some((each) => originOf(each) === origin) ? pathname + search : undefined;
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function hasBackslashOrControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f || code === 0x5c) return true;
  }
  return false;
}

/** Characters that no URL holds raw become `%XX`; what is encoded already stays. Half of a surrogate pair becomes U+FFFD. */
function encoded(target: string): string {
  return target.replace(/[^\x21-\x7e]|["<>]/gu, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}
