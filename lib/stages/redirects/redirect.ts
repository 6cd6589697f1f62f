/**
 * A redirect as a value: returned by a handler, resolved against the route table and the session by the redirect mapper. It leads to
 * a path of this site, to a route, or back. For another site use `ctx.redirect(url)`, which checks nothing.
 *
 * GET and HEAD are answered with 302, other methods with 303; permanent ones with 301 and 308 (RFC 9110 section 15.4).
 *
 * @example
 * return redirect().route(links.show, link.id).with("notice", "Saved.");
 * return redirect().back("/links");
 */
import { BadRequestError } from "../../errors/framework-error.js";
import { Deferred } from "../../http/returned-value.js";
import type { Endpoint } from "../../routing/endpoint.js";
import type { PathParameter, UrlArguments } from "../../routing/path.js";

// A place to send a browser to that cannot be another site: a path of this one, with its query and fragment, fit for a header.
// Targets from outside (`Referer`, a form field) pass through here; a URL to another site never does.

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

/** Where it leads. */
export type RedirectTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "back"; readonly fallback: string }
  | { readonly kind: "name"; readonly name: string; readonly params: readonly PathParameter[] }
  | { readonly kind: "endpoint"; readonly endpoint: Endpoint; readonly url: () => string };

export class Redirect extends Deferred {
  readonly kind = "redirect";

  /** @internal */
  constructor(
    readonly target: RedirectTarget,
    /** What the next request may read, once, from the session. */
    readonly data: ReadonlyMap<string, string> = new Map(),
    readonly isPermanent: boolean = false,
  ) {
    super();
  }

  /**
   * A path of this site, with query and fragment; non-ASCII is percent-encoded.
   * Throws `BadRequestError` with `E_UNSAFE_REDIRECT` for anything a browser could take for another site.
   */
  to(path: string): Redirect {
    return this.toward({ kind: "path", path: safePath(path) });
  }

  /** An endpoint, or the name of a route, with its parameters; what does not fit is a 500 when it is resolved, never a 404. */
  route<P extends string>(to: Endpoint<P> | string, ...params: UrlArguments<P>): Redirect {
    if (typeof to === "string") return this.toward({ kind: "name", name: to, params });
    return this.toward({ kind: "endpoint", endpoint: to, url: () => to.url(...params) });
  }

  /** Where the request came from, as far as `Referer` names a place of this site; else the fallback, which is checked like `to`. */
  back(fallback = "/"): Redirect {
    return this.toward({ kind: "back", fallback: safePath(fallback) });
  }

  /** Leaves a text in the session for the next request; the last one of a key counts. */
  with(key: string, value: string): Redirect {
    return new Redirect(this.target, new Map([...this.data, [key, value]]), this.isPermanent);
  }

  permanent(): Redirect {
    return new Redirect(this.target, this.data, true);
  }

  private toward(target: RedirectTarget): Redirect {
    return new Redirect(target, this.data, this.isPermanent);
  }
}

/** A redirect to `/`, until one of its methods says where else. */
export function redirect(): Redirect {
  return new Redirect({ kind: "path", path: "/" });
}
