/**
 * Stage layer: which pages of other origins may read the answers (the Fetch standard, section 3.2). Answers a preflight itself,
 * without waking anything further in; every other answer, errors included, is completed when it is sent.
 *
 * Not a protection of the server: whoever is no browser reads everything all the same.
 *
 * @example
 * builder.cors({ origins: ["https://app.example"], credentials: true, maxAge: 600 });
 */
import type { Exchange } from "../../http/exchange.js";
import type { ResponseHead, HeadCompleter } from "../../http/head.js";
import { DEFAULT_METHODS, type CorsOptions, isOrigin, checkCorsOptions, type OriginPredicate } from "./cors-options.js";
import { isTokenList } from "../../http/field-value.js";
import { Varying } from "../../http/vary.js";
import type { Context } from "../../http/context.js";
import { isPromise, Layer, type Run } from "../../http/middleware.js";
import { BoundedMemo } from "../../http/bounded-memo.js";

/**
 * The headers that CORS adds, as completers that are built once and shared by all requests: what differs from request to request is
 * read from the request itself.
 */
const ALLOW_ORIGIN = "Access-Control-Allow-Origin";
const PREFLIGHT_READS = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

export class CorsHeaders {
  /** The request names no origin. */
  readonly unasked: HeadCompleter;
  readonly granted: HeadCompleter;
  readonly withheld: HeadCompleter;
  readonly preflight: HeadCompleter;
  readonly refusedPreflight: HeadCompleter;

  constructor(options: CorsOptions) {
    const granted = new Granted(options);
    this.granted = granted;
    // An answer for everyone says so to everyone: a cache may hand it to a page of another origin later.
    this.unasked = options.origins === "*" ? granted : new Varying("Origin");
    this.withheld = new Withheld();
    this.preflight = new Preflight(options, granted);
    this.refusedPreflight = new Varying(PREFLIGHT_READS);
  }
}

class Granted implements HeadCompleter {
  private readonly isForEveryone: boolean;
  private readonly varying = new Varying("Origin");
  private readonly pairs: readonly string[];

  constructor({ origins, credentials = false, exposeHeaders = [] }: CorsOptions) {
    this.isForEveryone = origins === "*";
    this.pairs = [
      ...(credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
      ...(exposeHeaders.length > 0 ? ["Access-Control-Expose-Headers", exposeHeaders.join(", ")] : []),
    ];
  }

  complete(exchange: Exchange, head: ResponseHead): void {
    this.allow(exchange, head);
    head.floor(this.pairs);
    if (!this.isForEveryone) this.varying.complete(exchange, head);
  }

  allow(exchange: Exchange, head: ResponseHead): void {
    head.set(ALLOW_ORIGIN, this.isForEveryone ? "*" : originOf(exchange));
  }
}

/** As it was allowed; whoever is further in may have put into the request's headers what no header may hold. */
function originOf({ incoming: { headers } }: Exchange): string {
  const { origin = "null" } = headers;
  return isOrigin(origin) ? origin : "null";
}

class Preflight implements HeadCompleter {
  private readonly pairs: readonly string[];
  private readonly varying = new Varying(PREFLIGHT_READS);
  private readonly allowHeaders: string | undefined;
  private readonly privateNetwork: boolean;

  constructor(
    options: CorsOptions,
    private readonly granted: Granted,
  ) {
    const { methods = DEFAULT_METHODS, allowHeaders, credentials = false, maxAge, privateNetwork = false } = options;
    this.allowHeaders = allowHeaders?.join(", ");
    this.privateNetwork = privateNetwork;
    this.pairs = [
      ...(credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
      "Access-Control-Allow-Methods",
      methods.join(", "),
      ...(maxAge === undefined ? [] : ["Access-Control-Max-Age", String(maxAge)]),
    ];
  }

  complete(exchange: Exchange, head: ResponseHead): void {
    const { headers } = exchange.incoming;
    this.granted.allow(exchange, head);
    head.floor(this.pairs);
    const names = this.allowHeaders ?? echoed(headers["access-control-request-headers"]);
    if (names !== "") head.set("Access-Control-Allow-Headers", names);
    if (this.privateNetwork && headers["access-control-request-private-network"] === "true") {
      head.set("Access-Control-Allow-Private-Network", "true");
    }
    this.varying.complete(exchange, head);
  }
}

/** What the client asked for is repeated only where it is a list of names. */
function echoed(names: string | undefined): string {
  return names !== undefined && isTokenList(names) ? names.trim() : "";
}

/** Also what a handler took over from somewhere else must not open the answer to an origin that is not allowed. */
class Withheld implements HeadCompleter {
  private readonly varying = new Varying("Origin");

  complete(exchange: Exchange, head: ResponseHead): void {
    const { raw } = exchange;
    for (const name of raw.getHeaderNames()) if (name.startsWith("access-control-")) raw.removeHeader(name);
    this.varying.complete(exchange, head);
  }
}

type Answer = boolean | Promise<boolean>;

export class CorsLayer extends Layer {
  private readonly headers: CorsHeaders;
  private readonly allows: (origin: string, ctx: Context) => Answer;

  /** Throws a `FrameworkError` with a code `E_CORS_…` for a policy that cannot work. */
  constructor(options: CorsOptions) {
    super();
    checkCorsOptions(options);
    this.headers = new CorsHeaders(options);
    this.allows = originCheck(options.origins);
  }

  override wrap(inner: Run): Run {
    const { headers } = this;
    return (ctx) => {
      const { origin } = ctx.incoming.headers;
      if (origin === undefined) return complete(ctx, headers.unasked, inner);
      const verdict = this.ask(origin, ctx);
      if (!isPromise(verdict)) return answer(ctx, headers, verdict, inner);
      return verdict.then(
        (allowed) => answer(ctx, headers, allowed, inner),
        (thrown: unknown) => this.fail(ctx, thrown),
      );
    };
  }

  private ask(origin: string, ctx: Context): Answer {
    try {
      return this.allows(origin, ctx);
    } catch (thrown) {
      return this.fail(ctx, thrown);
    }
  }

  /** Nobody knows whether the origin is allowed: the failure is for it alone, and a cache must know that. */
  private fail(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(isPreflight(ctx) ? this.headers.refusedPreflight : this.headers.withheld);
    throw thrown;
  }
}

function answer(ctx: Context, heads: CorsHeaders, allowed: boolean, inner: Run): void | Promise<void> {
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

function originCheck(origins: CorsOptions["origins"]): (origin: string, ctx: Context) => Answer {
  if (origins === "*") return () => true;
  if (typeof origins === "function") return (origin, ctx) => ask(origins, origin, ctx);
  const listed: ReadonlySet<string> = new Set(origins.map((origin) => origin.toLowerCase()));
  const verdicts = new BoundedMemo((origin) => listed.has(origin.toLowerCase()));
  return (origin) => verdicts.of(origin);
}

function ask(predicate: OriginPredicate, origin: string, ctx: Context): Answer {
  // A predicate such as (o) => o.endsWith(".example") must not be fooled by what is no origin at all.
  return isOrigin(origin) ? predicate(origin, ctx) : false;
}
