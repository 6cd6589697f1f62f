/**
 * Stage layer, and middleware for a route or a group: limits the requests of each client with a token bucket. A request takes one token;
 * without a token it is refused with 429. Every response carries the `RateLimit-*` headers.
 *
 * A `RateLimit` is a handle, and the buckets belong to it. One handle on several routes is one quota; two handles are two quotas. Each
 * method returns a new handle and does not change the old one. By default the buckets are in memory, so each application in each process
 * has a separate quota, and two tests do not share the quota of a decorator. With `.redis(cache)` all processes share one quota.
 *
 * Not a protection against a flood on the network, because the limit is checked after a request was received.
 *
 * @example
 * builder.rateLimit(RateLimit.perMinute(120).burst(20));
 * const logins = RateLimit.perHour(10).by((ctx) => ctx.get("x-api-key")).redis(cache, "login");
 */
import { refuse } from "../../http/failures/refuse.js";
import type { Context } from "../../http/request/context.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import type { PerProcess, ProcessState } from "../../lifecycle/process-state.js";
import { Problem } from "../../errors/problem.js";
import { tracing } from "../../tracing/tracing.js";
import { Cache } from "../../cache/cache.js";
import { CacheBuckets } from "./cache-bucket.js";
import { Quota, type RateLimitDecision } from "./quota.js";
import { readRateLimitKey, type KeyReader, type RateLimitKey } from "./client-key.js";
import { TokenBuckets } from "./token-bucket.js";
import { setupError } from "../../errors/setup-error.js";

const log = tracing.target("framework::http::rate_limit");

const EXHAUSTED = Problem.of(429, "Too many requests. Slow down and try again shortly.");
const UNAVAILABLE = Problem.of(503, "The rate limiter is unavailable. Please try again shortly.");

const REFUSED = Object.freeze({ status: 429 });

/** The minimum time between two warnings of a store that does not respond. */
const MIN_WARN_INTERVAL_MS = 10_000;

/** The treatment of requests while the shared store does not respond: refuse them with 503, or let all of them through. */
export type OnBackendError = "refuse" | "allow";

interface RateLimitSettings {
  readonly quota: Quota;
  readonly getKey: KeyReader;
  readonly shared: { readonly cache: Cache; readonly name: string } | undefined;
  readonly onBackendError: OnBackendError;
}

export class RateLimit extends StageLayer implements PerProcess {
  /** By application. */
  private readonly buckets = new WeakMap<object, TokenBuckets>();
  private sharedBuckets: CacheBuckets | undefined = undefined;
  private warnedAt = Number.NEGATIVE_INFINITY;

  private constructor(private readonly settings: RateLimitSettings) {
    super();
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses all requests */
  static perSecond(limit: number): RateLimit {
    return RateLimit.per(1000, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses all requests */
  static perMinute(limit: number): RateLimit {
    return RateLimit.per(60_000, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless `limit` is a whole number, 0 or more; 0 refuses all requests */
  static perHour(limit: number): RateLimit {
    return RateLimit.per(3_600_000, limit);
  }

  private static per(windowMs: number, limit: number): RateLimit {
    const quota = Quota.of(limit, windowMs);
    return new RateLimit({ quota, getKey: readRateLimitKey("ip"), shared: undefined, onBackendError: "refuse" });
  }

  /**
   * Sets the size of a bucket in tokens: the requests that a client may send at once after a pause. Unless set, it is the limit.
   *
   * @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless it is a whole number, 0 or more
   */
  burst(capacity: number): RateLimit {
    return this.with({ quota: this.settings.quota.withBurst(capacity) });
  }

  /**
   * Sets the key that distinguishes clients. Unless set, it is the client's address, for IPv6 its /64.
   *
   * @throws FrameworkError `E_RATE_LIMIT_KEY`
   */
  by(key: RateLimitKey): RateLimit {
    return this.with({ getKey: readRateLimitKey(key) });
  }

  /**
   * Stores the buckets in a shared cache: one quota for all instances. `run()` starts, probes and stops the cache, even if the container
   * does not provide it.
   *
   * @param name distinguishes two handles on one cache; `build()` refuses two handles with the same name (`E_RATE_LIMIT_SHARED`). It is the
   * same in every instance of the application. Keys are `<namespace>:ratelimit:<key>` without a name and
   * `<namespace>:ratelimit.<name>:<key>` with one.
   * @throws FrameworkError `E_RATE_LIMIT_NAME` unless the name is letters, digits, `-` and `_`; `E_RATE_LIMIT_CACHE` unless `cache`
   * is a Cache
   */
  redis(cache: Cache, name = ""): RateLimit {
    // JavaScript callers may pass any value, and an error at start-up is better than one at the first request.
    if (!(cache instanceof Cache)) {
      throw setupError(
        new FrameworkError("a shared rate limit needs a Cache: .redis(new RedisCache({ url }))", {
          code: "E_RATE_LIMIT_CACHE",
        }),
      );
    }
    if (!/^[\w-]*$/.test(name)) {
      throw setupError(
        new FrameworkError(`${JSON.stringify(name)} cannot name a rate limit: use letters, digits, "-" and "_"`, {
          code: "E_RATE_LIMIT_NAME",
        }),
      );
    }
    return this.with({ shared: { cache, name } });
  }

  /**
   * Sets the behaviour while the shared cache does not respond: `"refuse"` (the default) refuses requests with 503, `"allow"` lets all
   * requests through.
   *
   * @throws FrameworkError `E_RATE_LIMIT_BACKEND` for any other word
   */
  onBackendError(choice: OnBackendError): RateLimit {
    // JavaScript callers may pass any value, and an unknown word must not mean "allow".
    if (choice !== "refuse" && choice !== "allow") {
      throw setupError(
        new FrameworkError(`onBackendError(${JSON.stringify(choice)}): use "refuse" or "allow"`, {
          code: "E_RATE_LIMIT_BACKEND",
        }),
      );
    }
    return this.with({ onBackendError: choice });
  }

  /** @internal */
  get quota(): Quota {
    return this.settings.quota;
  }

  get perProcess(): ProcessState | undefined {
    if (this.settings.shared !== undefined) return undefined;
    return { what: `a rate limit of ${String(this.quota)} is in memory`, fix: ".redis(cache)", isTolerable: true };
  }

  /** The cache with the buckets; `undefined` if they are in memory. @internal */
  get cache(): Cache | undefined {
    return this.settings.shared?.cache;
  }

  /** The name of the buckets in their cache; `""` if none was given. @internal */
  get bucketsName(): string {
    return this.settings.shared?.name ?? "";
  }

  /** Whether the other limit uses the same keys in the same cache. Each would then take tokens from the other's buckets. @internal */
  sharesBucketsWith({ settings: { shared: other } }: RateLimit): boolean {
    const { shared } = this.settings;
    return shared !== undefined && shared.cache === other?.cache && shared.name === other.name;
  }

  override wrap(inner: Run): Run {
    const { quota, getKey, shared } = this.settings;
    if (shared !== undefined) {
      return this.wrapShared(inner, (this.sharedBuckets ??= new CacheBuckets(shared.cache, quota, shared.name)));
    }
    let buckets: TokenBuckets | undefined;
    return (ctx) => {
      buckets ??= this.getBuckets(ctx.app);
      return applyDecision(ctx, buckets.take(getKey(ctx), ctx.clock.monotonic()), inner);
    };
  }

  /** A chain belongs to one application, so each place in it gets its buckets once. */
  private getBuckets(application: object): TokenBuckets {
    const known = this.buckets.get(application) ?? new TokenBuckets(this.settings.quota);
    this.buckets.set(application, known);
    return known;
  }

  private wrapShared(inner: Run, buckets: CacheBuckets): Run {
    const { getKey } = this.settings;
    return (ctx) =>
      buckets.take(getKey(ctx)).then(
        (decision) => (hasEnded(ctx) ? undefined : applyDecision(ctx, decision, inner)),
        (error: unknown) => this.handleStoreError(ctx, error, inner),
      );
  }

  private handleStoreError(ctx: Context, error: unknown, inner: Run): void | Promise<void> {
    const { onBackendError } = this.settings;
    const now = ctx.clock.monotonic();
    if (now - this.warnedAt >= MIN_WARN_INTERVAL_MS) {
      this.warnedAt = now;
      log.warn("rate limiter unavailable", { error, decision: onBackendError });
    }
    if (hasEnded(ctx)) return undefined;
    if (onBackendError === "allow") return inner(ctx);
    log.debug("request refused", { status: 503 });
    return refuse(ctx, UNAVAILABLE);
  }

  private with(change: Partial<RateLimitSettings>): RateLimit {
    return new RateLimit({ ...this.settings, ...change });
  }
}

/**
 * During the call of the store, a timeout may have responded or the client may have left. The inner stages must not start for such a
 * request.
 */
function hasEnded(ctx: Context): boolean {
  return ctx.isAbandoned;
}

function applyDecision(ctx: Context, decision: RateLimitDecision, inner: Run): void | Promise<void> {
  ctx.completeHeadWith(decision);
  if (decision.isAdmitted) return inner(ctx);
  log.debug("request refused", REFUSED);
  refuse(ctx, EXHAUSTED);
  ctx.raw.setHeader("Retry-After", String(decision.retryAfterSeconds));
  return undefined;
}
