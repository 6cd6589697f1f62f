/**
 * A redirect as a value that a handler returns. It leads to a path of this site, to a route, or back to the page of the `Referer`. The
 * redirect mapper turns it into an answer. For a redirect to another site use `ctx.redirect(url)`, which does not check the URL.
 *
 * GET and HEAD are answered with 302, other methods with 303; permanent ones with 301 and 308 (RFC 9110 section 15.4).
 *
 * @example
 * return redirect().route(links.show, link.id).with("notice", "Saved.");
 * return redirect().back("/links");
 */
import type { Context } from "../../http/context.js";
import { Deferred } from "../../http/returned-value.js";
import { safePath } from "../../http/safe-path.js";
import type { Endpoint } from "../../routing/endpoint.js";
import type { PathParameter, UrlArguments } from "../../routing/path.js";

type RedirectTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "back"; readonly fallback: string }
  | { readonly kind: "name"; readonly name: string; readonly params: readonly PathParameter[] }
  | { readonly kind: "endpoint"; readonly endpoint: Endpoint; readonly url: () => string };

export class Redirect extends Deferred {
  readonly kind = "redirect";

  /** @internal */
  constructor(
    readonly target: RedirectTarget,
    /** Values for the session, which the next request may read once. */
    readonly data: ReadonlyMap<string, string> = new Map(),
    readonly isPermanent: boolean = false,
  ) {
    super();
  }

  /** Only the location waits for the redirect mapper. @internal */
  override announce(ctx: Context): void {
    ctx.answerNothing();
    ctx.answerStatus(redirectStatus(ctx.method, this.isPermanent));
  }

  /**
   * Leads to a path of this site, with query and fragment. Characters outside ASCII are percent-encoded.
   *
   * @throws BadRequestError `E_UNSAFE_REDIRECT` for a path that a browser could read as another site
   */
  to(path: string): Redirect {
    return this.withTarget({ kind: "path", path: safePath(path) });
  }

  /**
   * Leads to an endpoint, or to a route by its name. An endpoint that is no route of the application, an unknown name and wrong
   * parameters give a 500, never a 404.
   */
  route<P extends string>(to: Endpoint<P> | string, ...params: UrlArguments<P>): Redirect {
    if (typeof to === "string") return this.withTarget({ kind: "name", name: to, params });
    return this.withTarget({ kind: "endpoint", endpoint: to, url: () => to.url(...params) });
  }

  /** Leads to the page that `Referer` names, when it belongs to this site, else to the fallback, which is checked like `to`. */
  back(fallback = "/"): Redirect {
    return this.withTarget({ kind: "back", fallback: safePath(fallback) });
  }

  /** Leaves a text in the session for the next request. A later call with the same key replaces the text. */
  with(key: string, value: string): Redirect {
    return new Redirect(this.target, new Map([...this.data, [key, value]]), this.isPermanent);
  }

  permanent(): Redirect {
    return new Redirect(this.target, this.data, true);
  }

  private withTarget(target: RedirectTarget): Redirect {
    return new Redirect(target, this.data, this.isPermanent);
  }
}

/** A redirect to `/`, unless one of its methods sets another target. */
export function redirect(): Redirect {
  return new Redirect({ kind: "path", path: "/" });
}

export function redirectStatus(method: string, isPermanent: boolean): 301 | 302 | 303 | 308 {
  if (method === "GET" || method === "HEAD") return isPermanent ? 301 : 302;
  return isPermanent ? 308 : 303;
}
