/**
 * Stage layer: which pages of other origins may read the answers (the Fetch standard, section 3.2). Answers a preflight itself,
 * without waking anything further in; every other answer, errors included, is completed when it is sent.
 *
 * Not a protection of the server: whoever is no browser reads everything all the same.
 *
 * @example
 * builder.cors({ origins: ["https://app.example"], credentials: true, maxAge: 600 });
 */
import type { Context } from "../http/context.js";
import type { HeadCompleter } from "../http/head.js";
import { isPromise, Layer, type Run } from "../http/middleware.js";
import { BoundedMemo } from "../http/bounded-memo.js";
import { CorsHeads } from "./cors-heads.js";
import { checkCorsOptions, type CorsOptions, type OriginPredicate } from "./cors-options.js";
import { isOrigin } from "./origin.js";

type Verdict = boolean | Promise<boolean>;

export class CorsLayer extends Layer {
  private readonly heads: CorsHeads;
  private readonly allows: (origin: string, ctx: Context) => Verdict;

  /** Throws a `FrameworkError` with a code `E_CORS_…` for a policy that cannot work. */
  constructor(options: CorsOptions) {
    super();
    checkCorsOptions(options);
    this.heads = new CorsHeads(options);
    this.allows = verdictOf(options.origins);
  }

  override wrap(inner: Run): Run {
    const { heads } = this;
    return (ctx) => {
      const { origin } = ctx.incoming.headers;
      if (origin === undefined) return complete(ctx, heads.unasked, inner);
      const verdict = this.ask(origin, ctx);
      if (!isPromise(verdict)) return answer(ctx, heads, verdict, inner);
      return verdict.then(
        (allowed) => answer(ctx, heads, allowed, inner),
        (thrown: unknown) => this.fail(ctx, thrown),
      );
    };
  }

  private ask(origin: string, ctx: Context): Verdict {
    try {
      return this.allows(origin, ctx);
    } catch (thrown) {
      return this.fail(ctx, thrown);
    }
  }

  /** Nobody knows whether the origin is allowed: the failure is for it alone, and a cache must know that. */
  private fail(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(isPreflight(ctx) ? this.heads.refusedPreflight : this.heads.withheld);
    throw thrown;
  }
}

function answer(ctx: Context, heads: CorsHeads, allowed: boolean, inner: Run): void | Promise<void> {
  if (!isPreflight(ctx)) return complete(ctx, allowed ? heads.granted : heads.withheld, inner);
  ctx.answerStatus(204);
  ctx.completeHeadWith(allowed ? heads.preflight : heads.refusedPreflight);
  return undefined;
}

function complete(ctx: Context, head: HeadCompleter | undefined, inner: Run): void | Promise<void> {
  if (head !== undefined) ctx.completeHeadWith(head);
  return inner(ctx);
}

/** An OPTIONS request that a browser sends ahead; any other is the application's. */
function isPreflight({ incoming }: Context): boolean {
  return incoming.method === "OPTIONS" && incoming.headers["access-control-request-method"] !== undefined;
}

function verdictOf(origins: CorsOptions["origins"]): (origin: string, ctx: Context) => Verdict {
  if (origins === "*") return () => true;
  if (typeof origins === "function") return (origin, ctx) => ask(origins, origin, ctx);
  const listed: ReadonlySet<string> = new Set(origins.map((origin) => origin.toLowerCase()));
  const verdicts = new BoundedMemo((origin) => listed.has(origin.toLowerCase()));
  return (origin) => verdicts.of(origin);
}

function ask(predicate: OriginPredicate, origin: string, ctx: Context): Verdict {
  // A predicate such as (o) => o.endsWith(".example") must not be fooled by what is no origin at all.
  return isOrigin(origin) ? predicate(origin, ctx) : false;
}
