/**
 * The numbers of a rate limit, checked once, and the decision about one request. A bucket holds `capacity` tokens and starts full. A
 * request takes one token. The bucket is refilled continuously with `limit` tokens per `windowMs`.
 *
 * Time inside a bucket is counted in ticks of `1 / limit` milliseconds, so one token is `windowMs` ticks. These are whole numbers:
 * sums of them need no rounding.
 */
import { valueText } from "../../errors/value-text.js";
import { FrameworkError } from "../../errors/framework-error.js";
import type { Exchange } from "../../http/request/exchange.js";
import type { ResponseHead, HeadCompleter } from "../../http/response/response-head.js";
import { setupError } from "../../errors/setup-error.js";

export class Quota {
  private constructor(
    /** Requests per window. */
    readonly limit: number,
    /** Milliseconds. */
    readonly windowMs: number,
    /** Tokens of a full bucket. */
    readonly capacity: number,
  ) {}

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless it is a whole number, 0 or more */
  static of(limit: number, windowMs: number): Quota {
    expectWhole("limit", limit);
    return new Quota(limit, windowMs, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` unless it is a whole number, 0 or more */
  withBurst(capacity: number): Quota {
    expectWhole("burst", capacity);
    return new Quota(this.limit, this.windowMs, capacity);
  }

  /** For messages: `10 per hour`, `50 per second in bursts of 100`. */
  toString(): string {
    const { limit, windowMs, capacity } = this;
    const rate = `${limit} per ${UNITS.get(windowMs) ?? `${windowMs} ms`}`;
    return capacity === limit ? rate : `${rate} in bursts of ${capacity}`;
  }

  /** No request is ever admitted, at any time. */
  get isClosed(): boolean {
    return this.limit === 0 || this.capacity === 0;
  }
}

const UNITS: ReadonlyMap<number, string> = new Map([
  [1000, "second"],
  [60_000, "minute"],
  [3_600_000, "hour"],
]);

function expectWhole(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw setupError(
    new FrameworkError(`a rate limit's ${name} is a whole number, 0 or more, not ${valueText(value)}`, {
      code: "E_RATE_LIMIT_QUOTA",
    }),
  );
}

/**
 * The decision about one request, and the numbers for the `RateLimit-*` headers of its response. With several limits around a request, the
 * headers are those of the innermost limit.
 */
export class RateLimitDecision implements HeadCompleter {
  constructor(
    readonly isAdmitted: boolean,
    /** The quota's limit; the burst does not change it. */
    readonly limit: number,
    /** Whole tokens left; with a burst more than the limit. */
    readonly remaining: number,
    /** Whole seconds until the bucket is full again, rounded up. */
    readonly resetSeconds: number,
    /** Whole seconds until there is a token, rounded up, at least 1. Read only when the request is refused. */
    readonly retryAfterSeconds: number,
  ) {}

  complete(_exchange: Exchange, head: ResponseHead): void {
    if (head.has("RateLimit-Limit")) return;
    head.set("RateLimit-Limit", String(this.limit));
    head.set("RateLimit-Remaining", String(Math.min(this.remaining, this.limit)));
    head.set("RateLimit-Reset", String(this.resetSeconds));
  }
}
