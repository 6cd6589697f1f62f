/**
 * The token buckets of one quota, by key, in the memory of this process. Of a bucket only one thing is kept: the moment at which it
 * is full again; every token taken moves it one token's worth later. What is full is as good as absent, so beyond
 * `SWEEP_ABOVE` buckets the full ones are dropped, the earliest first, and none is ever looked at in vain.
 *
 * Where so many keys come that nothing is full (a crowd, or one client that makes up keys), the table ends at `MOST_BUCKETS`: the
 * bucket nearest to full gives way, whose owner gains the least by it.
 */
import { MomentQueue } from "./moment-queue.js";
import type { Quota } from "./quota.js";
import { RateLimitVerdict } from "./rate-limit-verdict.js";

/** So many buckets are kept without asking which of them are full. */
export const SWEEP_ABOVE = 8192;

/** About 150 MB of keys and buckets. */
export const MOST_BUCKETS = 1_048_576;

export class TokenBuckets {
  private readonly entries = new Map<string, number>();
  /** By entry, as in the queue. */
  private readonly keys: string[] = [];
  /** In ticks; see `Quota`. */
  private readonly fullAt = new MomentQueue();
  /** A bucket's worth of ticks. */
  private readonly depth: number;

  constructor(
    private readonly quota: Quota,
    private readonly most = MOST_BUCKETS,
  ) {
    this.depth = quota.capacity * quota.windowMs;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Takes a token from the bucket of `key`, if there is one; `now` in milliseconds, never going back. */
  take(key: string, now: number): RateLimitVerdict {
    const { quota } = this;
    if (quota.isClosed) return new RateLimitVerdict(false, quota.limit, 0, 0, 1);
    const tick = Math.floor(now) * quota.limit;
    if (this.entries.size > SWEEP_ABOVE) this.sweep(tick);
    const entry = this.entries.get(key);
    const before = entry === undefined ? tick : Math.max(tick, this.fullAt.momentOf(entry));
    const after = before + quota.windowMs;
    if (after - tick > this.depth) return this.verdict(false, before - tick);
    if (entry === undefined) this.add(key, after);
    else this.fullAt.postpone(entry, after);
    return this.verdict(true, after - tick);
  }

  /** @param missing ticks until the bucket is full */
  private verdict(isAdmitted: boolean, missing: number): RateLimitVerdict {
    const { depth } = this;
    const { limit, windowMs } = this.quota;
    const remaining = Math.floor((depth - missing) / windowMs);
    const reset = seconds(missing, limit);
    const retryAfter = isAdmitted ? 0 : Math.max(1, seconds(missing + windowMs - depth, limit));
    return new RateLimitVerdict(isAdmitted, limit, remaining, reset, retryAfter);
  }

  private add(key: string, fullAt: number): void {
    if (this.entries.size >= this.most) this.drop(this.fullAt.earliest);
    const entry = this.fullAt.add(fullAt);
    this.keys[entry] = key;
    this.entries.set(key, entry);
  }

  private sweep(tick: number): void {
    const { fullAt } = this;
    while (fullAt.size > 0 && fullAt.momentOf(fullAt.earliest) <= tick) this.drop(fullAt.earliest);
  }

  private drop(entry: number): void {
    this.entries.delete(this.keys[entry] ?? "");
    this.fullAt.removeEarliest();
    const moved = this.keys.pop() ?? "";
    if (this.keys.length === entry) return;
    this.keys[entry] = moved;
    this.entries.set(moved, entry);
  }
}

function seconds(ticks: number, limit: number): number {
  return Math.ceil(ticks / (limit * 1000));
}
