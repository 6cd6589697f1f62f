/**
 * The check that a path leads to this site only. Every redirect to a path passes it, and every `Referer` to which a stage redirects back.
 * Not for URLs of other sites.
 */
import { BadRequestError } from "../../errors/framework-error.js";
import { isSiteUrl } from "./origin.js";

/**
 * Whether a browser reads the target as a path of this site. It starts with exactly one slash. It has no backslash, which browsers read
 * as a slash, and no control character, which browsers ignore.
 */
export function isSafePath(target: string): boolean {
  return target.startsWith("/") && !target.startsWith("//") && !hasBackslashOrControl(target);
}

/**
 * The target, encoded for a header.
 *
 * @throws BadRequestError `E_UNSAFE_REDIRECT` for a target that is not a safe path
 */
export function toSafePath(target: string): string {
  if (typeof target === "string" && isSafePath(target)) return percentEncode(target);
  const detail = "a redirect needs a path of this site: one slash first, no backslash, no control character";
  throw new BadRequestError(detail, { code: "E_UNSAFE_REDIRECT" });
}

/**
 * The path and query of a `Referer` that is a safe path or a URL of one of the origins; `undefined` for others. The fragment is
 * dropped.
 *
 * @param origins as URLs spell them
 */
export function findSafeReferer(referer: string, origins: readonly string[]): string | undefined {
  const target = referer.startsWith("/") ? referer : findSitePath(referer, origins);
  if (target === undefined || !isSafePath(target)) return undefined;
  return percentEncode(target.split("#", 1)[0] ?? target);
}

function findSitePath(referer: string, origins: readonly string[]): string | undefined {
  // The URL parser drops tabs and line breaks and converts backslashes to slashes.
  if (hasBackslashOrControl(referer) || !isSiteUrl(referer, origins)) return undefined;
  const { pathname, search } = new URL(referer);
  return pathname + search;
}

function hasBackslashOrControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f || code === 0x5c) return true;
  }
  return false;
}

/** Percent-encodes the characters that a URL cannot contain. Characters that are encoded already stay. A lone surrogate becomes U+FFFD. */
function percentEncode(target: string): string {
  return target.replace(/[^\x21-\x7e]|["<>]/gu, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}
