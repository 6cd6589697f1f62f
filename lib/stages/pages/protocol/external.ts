/**
 * A redirect to another site, which a handler returns: to a payment page, for example. The Inertia client opens it with a full visit;
 * a browser follows it as any redirect.
 *
 * @example
 * return external("https://pay.example/checkout/7");
 */
import { isGetOrHead } from "../../../endpoints/method.js";
import { FrameworkError } from "../../../errors/framework-error.js";
import type { Context } from "../../../http/request/context.js";
import { toRedirectTarget } from "../../../http/request/request-target.js";
import { Deferred } from "../../../http/response/returned-value.js";
import { respondWithConflict } from "./inertia-redirect.js";

export class External extends Deferred {
  readonly kind = "redirect to another site";

  /** @internal */
  constructor(readonly url: string) {
    super();
  }

  /** @internal */
  override announce(ctx: Context): void {
    ctx.clearBody();
    ctx.setStatus(this.findStatus(ctx));
  }

  /** @internal */
  override findStatus({ method }: Context): 302 | 303 {
    return isGetOrHead(method) ? 302 : 303;
  }

  /** @internal */
  respond(ctx: Context, isInertia: boolean): void {
    if (isInertia) respondWithConflict(ctx, { "X-Inertia-Location": this.url });
    else ctx.raw.setHeader("Location", this.url);
  }
}

/**
 * Redirects to an absolute URL. The URL is not compared with a list: never take it from a request without checking it first.
 *
 * @throws FrameworkError `E_EXTERNAL_URL` with status 500 for anything but an http or https URL
 */
export function external(url: string): External {
  const target = typeof url === "string" && /^https?:/i.test(url) ? toRedirectTarget(url) : undefined;
  if (target !== undefined) return new External(target);
  throw new FrameworkError(`external(…) leads to http and https URLs only; for a path use redirect().to(path)`, {
    code: "E_EXTERNAL_URL",
  });
}
