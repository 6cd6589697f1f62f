/**
 * Stage layer, and middleware for a route or a group: a token bucket per client. A request without a token is answered 429; every
 * answer says what is left. The buckets belong to the handle, so one handle in several places is one quota, and two are two.
 *
 * Each call gives a new handle and leaves the one it was called on as it was. In memory the quota holds for each process; with
 * `.redis(cache)` it holds for all of them together.
 *
 * Not a shield against a flood that fills the line: it decides after a request was received.
 *
 * @example
 * builder.rateLimit(RateLimit.perMinute(120).burst(20));
 * const logins = RateLimit.perHour(10).by((ctx) => ctx.get("x-api-key")).redis(cache, "login");
 */
import { refuse } from "../../http/refuse.js";
import type { Context } from "../../http/context.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { Layer, type Run } from "../../http/middleware.js";
import { Problem } from "../../errors/problem.js";
import { tracing } from "../../tracing/tracing.js";
import { Cache } from "../../lifecycle/cache.js";
import { CacheBuckets } from "./cache-bucket.js";
import { Quota, type RateLimitVerdict } from "./quota.js";
import { readRateLimitKey, type KeyOf, type RateLimitKey } from "./client-key.js";
import { TokenBuckets } from "./token-bucket.js";

const log = tracing.target("framework::http::rate_limit");

const EXHAUSTED = Problem.of(429, "Too many requests. Slow down and try again shortly.");
const UNAVAILABLE = Problem.of(503, "The rate limiter is unavailable. Please try again shortly.");

const REFUSED = Object.freeze({ status: 429 });

/** A store that stays away is reported at most this often. */
const WARN_EVERY_MS = 10_000;

/** What becomes of requests while the shared store does not answer. */
export type OnBackendError = "refuse" | "allow";

interface Settings {
  readonly quota: Quota;
  readonly keyOf: KeyOf;
  readonly shared: { readonly cache: Cache; readonly name: string } | undefined;
  readonly onBackendError: OnBackendError;
}

export class RateLimit extends Layer {
  private buckets: TokenBuckets | undefined = undefined;
  private sharedBuckets: CacheBuckets | undefined = undefined;
  private warnedAt = Number.NEGATIVE_INFINITY;

  private constructor(private readonly settings: Settings) {
    super();
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses everything */
  static perSecond(limit: number): RateLimit {
    return RateLimit.per(1000, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses everything */
  static perMinute(limit: number): RateLimit {
    return RateLimit.per(60_000, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses everything */
  static perHour(limit: number): RateLimit {
    return RateLimit.per(3_600_000, limit);
  }

  private static per(windowMs: number, limit: number): RateLimit {
    const quota = Quota.of(limit, windowMs);
    return new RateLimit({ quota, keyOf: readRateLimitKey("ip"), shared: undefined, onBackendError: "refuse" });
  }

  /**
   * How many tokens a bucket holds, where that is not the limit itself: what a client may take at once after a pause.
   *
   * @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless it is a whole number, 0 or more
   */
  burst(capacity: number): RateLimit {
    return this.with({ quota: this.settings.quota.withBurst(capacity) });
  }

  /**
   * By what clients are told apart; by address unless said otherwise.
   *
   * @throws FrameworkError `E_RATE_LIMIT_KEY`
   */
  by(key: RateLimitKey): RateLimit {
    return this.with({ keyOf: readRateLimitKey(key) });
  }

  /**
   * Keeps the buckets in a shared cache: one quota for all instances. `run()` starts, probes and stops the cache, provided or not.
   *
   * @param name needed where two handles share a cache (`build()` finds them, `E_RATE_LIMIT_SHARED`), and the same in every instance of
   * the application: keys are `<namespace>:ratelimit:<key>` without a name and
   * `<namespace>:ratelimit.<name>:<key>` with one
   * @throws FrameworkError `E_RATE_LIMIT_NAME` unless the name is letters, digits, `-` and `_`; `E_RATE_LIMIT_CACHE` for no cache
   */
  redis(cache: Cache, name = ""): RateLimit {
    // JavaScript callers may pass anything, and without a cache the first request would be the one to say so.
    if (!(cache instanceof Cache)) {
      throw new FrameworkError("a shared rate limit needs a Cache: .redis(new RedisCache({ url }))", {
        code: "E_RATE_LIMIT_CACHE",
      });
    }
    if (!/^[\w-]*$/.test(name)) {
      throw new FrameworkError(`${JSON.stringify(name)} cannot name a rate limit: use letters, digits, "-" and "_"`, {
        code: "E_RATE_LIMIT_NAME",
      });
    }
    return this.with({ shared: { cache, name } });
  }

  /**
   * While the shared cache does not answer: `"refuse"` (the default) answers 503, `"allow"` lets everything through.
   *
   * @throws FrameworkError `E_RATE_LIMIT_BACKEND` for any other word
   */
  onBackendError(choice: OnBackendError): RateLimit {
    // JavaScript callers may pass anything, and "fail" must not come to mean "allow".
    if (choice !== "refuse" && choice !== "allow") {
      throw new FrameworkError(`onBackendError(${JSON.stringify(choice)}): use "refuse" or "allow"`, {
        code: "E_RATE_LIMIT_BACKEND",
      });
    }
    return this.with({ onBackendError: choice });
  }

  /** @internal */
  get quota(): Quota {
    return this.settings.quota;
  }

  /** Where the buckets are kept, if not in memory. @internal */
  get cache(): Cache | undefined {
    return this.settings.shared?.cache;
  }

  /** What the buckets are called in their cache; `""` for the first. @internal */
  get bucketsName(): string {
    return this.settings.shared?.name ?? "";
  }

  /** Whether another limit keeps its buckets under the same keys: one would take from, and refill, the other's. @internal */
  sharesBucketsWith({ settings: { shared: other } }: RateLimit): boolean {
    const { shared } = this.settings;
    return shared !== undefined && shared.cache === other?.cache && shared.name === other.name;
  }

  override wrap(inner: Run): Run {
    const { quota, keyOf, shared } = this.settings;
    if (shared !== undefined) {
      return this.wrapShared(inner, (this.sharedBuckets ??= new CacheBuckets(shared.cache, quota, shared.name)));
    }
    const buckets = (this.buckets ??= new TokenBuckets(quota));
    return (ctx) => pass(ctx, buckets.take(keyOf(ctx), ctx.clock.monotonic()), inner);
  }

  private wrapShared(inner: Run, buckets: CacheBuckets): Run {
    const { keyOf } = this.settings;
    return (ctx) =>
      buckets.take(keyOf(ctx)).then(
        (verdict) => (isOver(ctx) ? undefined : pass(ctx, verdict, inner)),
        (error: unknown) => this.withoutStore(ctx, error, inner),
      );
  }

  private withoutStore(ctx: Context, error: unknown, inner: Run): void | Promise<void> {
    const { onBackendError } = this.settings;
    const now = ctx.clock.monotonic();
    if (now - this.warnedAt >= WARN_EVERY_MS) {
      this.warnedAt = now;
      log.warn("rate limiter unavailable", { error, decision: onBackendError });
    }
    if (isOver(ctx)) return undefined;
    if (onBackendError === "allow") return inner(ctx);
    log.debug("request refused", { status: 503 });
    return refuse(ctx, UNAVAILABLE);
  }

  private with(change: Partial<Settings>): RateLimit {
    return new RateLimit({ ...this.settings, ...change });
  }
}

/** While the store was asked the time ran out, or the client left: nothing further in is to begin for this request. */
function isOver(ctx: Context): boolean {
  return ctx.isAbandoned;
}

function pass(ctx: Context, verdict: RateLimitVerdict, inner: Run): void | Promise<void> {
  ctx.completeHeadWith(verdict);
  if (verdict.isAdmitted) return inner(ctx);
  log.debug("request refused", REFUSED);
  refuse(ctx, EXHAUSTED);
  ctx.raw.setHeader("Retry-After", String(verdict.retryAfterSeconds));
  return undefined;
}
