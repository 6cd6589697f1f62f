/**
 * What a rate limit says about one request: whether it may go on, and the numbers for its `RateLimit-*` headers, which it adds to
 * the head of whatever answer the request gets. The innermost limit speaks first and the others leave its word alone.
 */
import type { Exchange } from "../http/exchange.js";
import type { Head, HeadCompleter } from "../http/head.js";

export class RateLimitVerdict implements HeadCompleter {
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

  complete(_exchange: Exchange, head: Head): void {
    if (head.has("RateLimit-Limit")) return;
    head.set("RateLimit-Limit", String(this.limit));
    head.set("RateLimit-Remaining", String(this.remaining));
    head.set("RateLimit-Reset", String(this.resetSeconds));
  }
}
