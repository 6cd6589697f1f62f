/**
 * A redirect as a value that a handler returns. It leads to a path of this site, to a route, or back to the page of the `Referer`. The
 * redirect mapper converts it to a response. For a redirect to another site use `ctx.redirect(url)`, which does not check the URL.
 *
 * GET and HEAD are redirected with 302, other methods with 303; permanent redirects have 301 and 308 (RFC 9110 section 15.4).
 *
 * @example
 * return redirect().route(links.show, link.id).with("notice", "Saved.");
 * return redirect().back("/links").withErrors(error);
 */
import { ValidationError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import type { FormFields } from "../../http/body/form-fields.js";
import { Deferred } from "../../http/response/returned-value.js";
import { toSafePath } from "../../http/request/safe-path.js";
import type { AnyEndpoint } from "../../endpoints/endpoint.js";
import { isGetOrHead } from "../../endpoints/method.js";
import type { PathParameter, UrlArguments } from "../../endpoints/path.js";
import { DEFAULT_BAG, type FieldMessages } from "../session/flash-port.js";

type RedirectTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "back"; readonly fallback: string }
  | { readonly kind: "name"; readonly name: string; readonly params: readonly PathParameter[] }
  | { readonly kind: "endpoint"; readonly endpoint: AnyEndpoint; readonly url: () => string };

/** The data that a redirect leaves in the flash of the session for the next page. */
export interface Left {
  readonly data: ReadonlyMap<string, string>;
  /** By bag. */
  readonly errors: ReadonlyMap<string, ValidationError | FieldMessages>;
  /** `undefined`: with errors, the fields of the form of the request. */
  readonly input: FormFields | undefined;
}

const NOTHING_LEFT: Left = { data: new Map(), errors: new Map(), input: undefined };

export class Redirect extends Deferred {
  readonly kind = "redirect";

  /** @internal */
  constructor(
    readonly target: RedirectTarget,
    readonly left: Left = NOTHING_LEFT,
    readonly isPermanent: boolean = false,
  ) {
    super();
  }

  /** Decides the response except for the location, which the redirect mapper adds. @internal */
  override announce(ctx: Context): void {
    ctx.clearBody();
    ctx.setStatus(this.findStatus(ctx));
  }

  /** @internal */
  override findStatus({ method }: Context): 301 | 302 | 303 | 308 {
    return getRedirectStatus(method, this.isPermanent);
  }

  /**
   * Leads to a path of this site, with query and fragment. Characters outside ASCII are percent-encoded.
   *
   * @throws BadRequestError `E_UNSAFE_REDIRECT` for a path that a browser could read as another site
   */
  to(path: string): Redirect {
    return this.withTarget({ kind: "path", path: toSafePath(path) });
  }

  /**
   * Leads to an endpoint, or to a route by its name. An endpoint that is not a route of the application, an unknown name and wrong
   * parameters give a 500, never a 404.
   */
  route<P extends string>(to: AnyEndpoint<P> | string, ...params: UrlArguments<P>): Redirect {
    if (typeof to === "string") return this.withTarget({ kind: "name", name: to, params });
    return this.withTarget({ kind: "endpoint", endpoint: to, url: () => to.url(...params) });
  }

  /** Leads to the page that `Referer` names, if it belongs to this site, else to the fallback, which is checked like `to`. */
  back(fallback = "/"): Redirect {
    return this.withTarget({ kind: "back", fallback: toSafePath(fallback) });
  }

  /** Leaves a text in the session for the next page. A later call with the same key replaces the text. */
  with(key: string, value: string): Redirect {
    return this.withLeft({ data: new Map([...this.left.data, [key, value]]) });
  }

  /**
   * Leaves the faults of a form for the next page, and with them the fields of the urlencoded form that this request has read. Fields that
   * are named like a secret are never stored. The page protocol's client retains its fields itself, so for its requests none are stored.
   * The fields of a form with files are stored only by `withInput`.
   *
   * @param errors a `ValidationError`, or the message of each field by its dotted path
   * @param bag distinguishes the forms of a page
   */
  withErrors(errors: ValidationError | FieldMessages, bag: string = DEFAULT_BAG): Redirect {
    return this.withLeft({ errors: new Map([...this.left.errors, [bag, errors]]) });
  }

  /** Leaves these fields for the next page instead of those of the request. */
  withInput(fields: FormFields): Redirect {
    return this.withLeft({ input: fields });
  }

  permanent(): Redirect {
    return new Redirect(this.target, this.left, true);
  }

  private withLeft(more: Partial<Left>): Redirect {
    return new Redirect(this.target, { ...this.left, ...more }, this.isPermanent);
  }

  private withTarget(target: RedirectTarget): Redirect {
    return new Redirect(target, this.left, this.isPermanent);
  }
}

/** A redirect to `/`, unless one of its methods sets another target. */
export function redirect(): Redirect {
  return new Redirect({ kind: "path", path: "/" });
}

export function getRedirectStatus(method: string, isPermanent: boolean): 301 | 302 | 303 | 308 {
  if (isGetOrHead(method)) return isPermanent ? 301 : 302;
  return isPermanent ? 308 : 303;
}
