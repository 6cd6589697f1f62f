/**
 * Stage layer: turns a returned redirect into its answer, against the route table and the session. On by default; without it
 * redirects to paths and back still work, those to routes do not.
 */
import { answerError } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import { Layer, type Run } from "../http/middleware.js";
import { profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import { Redirect } from "./redirect.js";
import { redirectLocation, redirectStatus, type UrlSource } from "./redirect-answer.js";

const log = tracing.target("framework::http::redirect");

export interface RedirectSite {
  readonly routes: UrlSource;
  /** The origin of the configured URL, which counts as this site like the request's own. */
  readonly origin: string;
}

export class RedirectMapper extends Layer {
  constructor(private readonly site: RedirectSite) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const result = inner(ctx);
      if (result !== undefined) return result.then(() => this.map(ctx));
      this.map(ctx);
      return undefined;
    };
  }

  private map(ctx: Context): void {
    const { deferred } = ctx;
    if (deferred instanceof Redirect) answerRedirect(ctx, deferred, this.site);
  }
}

/** @internal */
export function answerRedirect(ctx: Context, redirect: Redirect, { routes, origin }: RedirectSite): void {
  ctx.deferred = undefined;
  try {
    const origins = [`${ctx.protocol}://${ctx.host}`, origin];
    const location = redirectLocation(redirect, { method: ctx.method, referer: ctx.get("referer"), origins }, routes);
    ctx.answerNothing();
    ctx.answerStatus(redirectStatus(ctx.method, redirect.isPermanent));
    ctx.raw.setHeader("Location", location);
    if (redirect.data.size > 0)
      log.warn("redirect data dropped: there is no session stage", { keys: [...redirect.data.keys()] });
  } catch (error) {
    if (!(error instanceof FrameworkError)) throw error;
    log.error("redirect failed", { code: error.code, status: error.status, error });
    answerError(ctx, error, profile === "debug");
  }
}

/** A route table for applications without the mapper: every name is unknown. @internal */
export const NO_ROUTES: UrlSource = {
  urlFor(name) {
    throw new FrameworkError(`redirect().route("${name}") needs the redirect mapper, which is off`, {
      code: "E_ROUTE_NAME",
    });
  },
};
