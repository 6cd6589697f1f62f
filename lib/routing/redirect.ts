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
import { Deferred } from "../http/returned-value.js";
import type { AnyEndpoint } from "./any-endpoint.js";
import type { Endpoint } from "./endpoint.js";
import type { PathParameter, UrlArguments } from "./path-types.js";
import { safePath } from "./safe-path.js";

/** Where it leads. */
export type RedirectTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "back"; readonly fallback: string }
  | { readonly kind: "name"; readonly name: string; readonly params: readonly PathParameter[] }
  | { readonly kind: "endpoint"; readonly endpoint: AnyEndpoint; readonly url: () => string };

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
