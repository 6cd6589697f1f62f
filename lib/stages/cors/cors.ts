/**
 * Stage layer: tells browsers which pages of other origins may read the responses (the Fetch standard, section 3.2). It responds to a
 * preflight itself; the inner stages do not see it. Every other response, errors included, gets its headers when it is sent.
 *
 * Not a protection of the server: only browsers obey these headers.
 *
 * @example
 * builder.cors({ origins: ["https://app.example"], credentials: true, maxAge: 600 });
 */
import type { HeadCompleter } from "../../http/response/response-head.js";
import { CorsHeaders } from "./cors-headers.js";
import { type CorsOptions, isOrigin, checkCorsOptions, type OriginPredicate } from "./cors-options.js";
import type { Context } from "../../http/request/context.js";
import { isPromise, StageLayer, type Run } from "../../http/middleware.js";
import { BoundedMemo } from "../../http/request/bounded-memo.js";

/** Whether an origin may read the response. */
type Decision = boolean | Promise<boolean>;

export class CorsLayer extends StageLayer {
  private readonly headers: CorsHeaders;
  private readonly allows: (origin: string, ctx: Context) => Decision;

  /** @throws FrameworkError with a code `E_CORS_…` for a policy that cannot work */
  constructor(options: CorsOptions) {
    super();
    checkCorsOptions(options);
    this.headers = new CorsHeaders(options);
    this.allows = createOriginCheck(options.origins);
  }

  override wrap(inner: Run): Run {
    const { headers } = this;
    return (ctx) => {
      const { origin } = ctx.incoming.headers;
      if (origin === undefined) return complete(ctx, headers.withoutOrigin, inner);
      const decision = this.ask(origin, ctx);
      if (!isPromise(decision)) return respond(ctx, headers, decision, inner);
      return decision.then(
        (allowed) => respond(ctx, headers, allowed, inner),
        (thrown: unknown) => this.fail(ctx, thrown),
      );
    };
  }

  private ask(origin: string, ctx: Context): Decision {
    try {
      return this.allows(origin, ctx);
    } catch (thrown) {
      return this.fail(ctx, thrown);
    }
  }

  /** The predicate failed, so the origin gets no access. The response depends on the origin, so it gets a `Vary` for caches. */
  private fail(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(isPreflight(ctx) ? this.headers.deniedPreflight : this.headers.denied);
    throw thrown;
  }
}

function respond(ctx: Context, headers: CorsHeaders, allowed: boolean, inner: Run): void | Promise<void> {
  if (!isPreflight(ctx)) return complete(ctx, allowed ? headers.allowed : headers.denied, inner);
  ctx.setStatus(204);
  ctx.completeHeadWith(allowed ? headers.preflight : headers.deniedPreflight);
  return undefined;
}

function complete(ctx: Context, completer: HeadCompleter, inner: Run): void | Promise<void> {
  ctx.completeHeadWith(completer);
  return inner(ctx);
}

/** An OPTIONS request that a browser sends before the real one. Other OPTIONS requests belong to the application. */
function isPreflight({ incoming }: Context): boolean {
  return incoming.method === "OPTIONS" && incoming.headers["access-control-request-method"] !== undefined;
}

function createOriginCheck(origins: CorsOptions["origins"]): (origin: string, ctx: Context) => Decision {
  if (origins === "*") return () => true;
  if (typeof origins === "function") return (origin, ctx) => callPredicate(origins, origin, ctx);
  const listed: ReadonlySet<string> = new Set(origins.map((origin) => origin.toLowerCase()));
  const decisions = new BoundedMemo((origin) => listed.has(origin.toLowerCase()));
  return (origin) => decisions.get(origin);
}

function callPredicate(predicate: OriginPredicate, origin: string, ctx: Context): Decision {
  // A predicate such as (o) => o.endsWith(".example") would accept texts that are not origins.
  return isOrigin(origin) ? predicate(origin, ctx) : false;
}
