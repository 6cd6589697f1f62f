/**
 * How many requests in which time: the numbers behind a rate limit, checked once. A bucket holds `capacity` tokens, starts full,
 * gives one token a request and is refilled continuously at `limit` tokens a `windowMs`.
 *
 * Time inside a bucket is counted in ticks of `1 / limit` milliseconds, so that one token is `windowMs` ticks: whole numbers, which
 * add up without rounding for any quota and any process that people run.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { Exchange } from "../../http/exchange.js";
import type { ResponseHead, HeadCompleter } from "../../http/head.js";

export class Quota {
  private constructor(
    /** Requests a window. */
    readonly limit: number,
    /** Milliseconds. */
    readonly windowMs: number,
    /** Tokens of a full bucket. */
    readonly capacity: number,
  ) {}

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` for anything but a whole number from 0 on */
  static of(limit: number, windowMs: number): Quota {
    expectWhole("limit", limit);
    return new Quota(limit, windowMs, limit);
  }

  /** @throws FrameworkError `E_RATE_LIMIT_QUOTA` for anything but a whole number from 0 on */
  withBurst(capacity: number): Quota {
    expectWhole("burst", capacity);
    return new Quota(this.limit, this.windowMs, capacity);
  }

  /** As one says it: `10 per hour`, `50 per second in bursts of 100`. */
  toString(): string {
    const { limit, windowMs, capacity } = this;
    const rate = `${limit} per ${UNITS.get(windowMs) ?? `${windowMs} ms`}`;
    return capacity === limit ? rate : `${rate} in bursts of ${capacity}`;
  }

  /** Nothing is ever let through: there is nothing to wait for. */
  get isClosed(): boolean {
    return this.limit === 0 || this.capacity === 0;
  }
}

const UNITS: ReadonlyMap<number, string> = new Map([
  [1000, "second"],
  [60_000, "minute"],
  [3_600_000, "hour"],
]);

function expectWhole(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new FrameworkError(`a rate limit's ${what} is a whole number, 0 or more, not ${String(value)}`, {
    code: "E_RATE_LIMIT_QUOTA",
  });
}

/**
 * What a rate limit says about one request: whether it may go on, and the numbers for its `RateLimit-*` headers, which it adds to
 * the head of whatever answer the request gets. The innermost limit speaks first and the others leave its word alone.
 */
export class RateLimitDecision implements HeadCompleter {
  constructor(
    readonly isAdmitted: boolean,
    /** The quota's limit, whatever its burst. */
    readonly limit: number,
    /** Whole tokens left. */
    readonly remaining: number,
    /** Whole seconds until the bucket is full again, rounded up. */
    readonly resetSeconds: number,
    /** Whole seconds until there is a token, rounded up, at least 1; of use to a refusal only. */
    readonly retryAfterSeconds: number,
  ) {}

  complete(_exchange: Exchange, head: ResponseHead): void {
    if (head.has("RateLimit-Limit")) return;
    head.set("RateLimit-Limit", String(this.limit));
    head.set("RateLimit-Remaining", String(this.remaining));
    head.set("RateLimit-Reset", String(this.resetSeconds));
  }
}
