/**
 * The token buckets of one quota, by key, in the memory of this process. Of a bucket only one thing is kept: the moment at which it
 * is full again; every token taken moves it one token's worth later. What is full is as good as absent, so beyond
 * `SWEEP_ABOVE` buckets the full ones are dropped, the earliest first, and none is ever looked at in vain.
 *
 * Where so many keys come that nothing is full (a crowd, or one client that makes up keys), the table ends at `MOST_BUCKETS`: the
 * bucket nearest to full gives way, whose owner gains the least by it.
 */
import { KeyHash, BucketTable, NO_ENTRY } from "./bucket-table.js";
import { ExpiryQueue } from "./expiry-queue.js";
import { type Quota, RateLimitDecision } from "./quota.js";

/** So many buckets are kept without asking which of them are full. */
export const SWEEP_ABOVE = 8192;

/** About 45 MB. */
export const MOST_BUCKETS = 1_048_576;

export class TokenBuckets {
  private readonly digest = new KeyHash();
  private readonly entries = new BucketTable();
  /** In ticks; see `Quota`. Entries have the same numbers in both. */
  private readonly fullAt = new ExpiryQueue();
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
  take(key: string, now: number): RateLimitDecision {
    const { quota } = this;
    if (quota.isClosed) return new RateLimitDecision(false, quota.limit, 0, 0, 1);
    const tick = Math.floor(now) * quota.limit;
    if (this.entries.size > SWEEP_ABOVE) this.sweep(tick);
    const entry = this.entries.find(this.digest.of(key));
    const before = entry === NO_ENTRY ? tick : Math.max(tick, this.fullAt.expiryOf(entry));
    const after = before + quota.windowMs;
    if (after - tick > this.depth) return this.verdict(false, before - tick);
    if (entry === NO_ENTRY) this.add(after);
    else this.fullAt.postpone(entry, after);
    return this.verdict(true, after - tick);
  }

  /** @param missing ticks until the bucket is full */
  private verdict(isAdmitted: boolean, missing: number): RateLimitDecision {
    const { depth } = this;
    const { limit, windowMs } = this.quota;
    const remaining = Math.floor((depth - missing) / windowMs);
    const reset = seconds(missing, limit);
    const retryAfter = isAdmitted ? 0 : Math.max(1, seconds(missing + windowMs - depth, limit));
    return new RateLimitDecision(isAdmitted, limit, remaining, reset, retryAfter);
  }

  /** Adds the bucket of the key that was looked for. */
  private add(fullAt: number): void {
    const entry = this.entries.size < this.most ? this.fullAt.add(fullAt) : this.takeOver(fullAt);
    this.entries.add(this.digest, entry);
  }

  private takeOver(fullAt: number): number {
    const { earliest } = this.fullAt;
    this.entries.remove(earliest);
    this.fullAt.replaceEarliest(fullAt);
    return earliest;
  }

  private sweep(tick: number): void {
    const { fullAt } = this;
    while (fullAt.size > 0 && fullAt.expiryOf(fullAt.earliest) <= tick) this.dropEarliest();
  }

  private dropEarliest(): void {
    const { earliest } = this.fullAt;
    this.entries.remove(earliest);
    this.fullAt.removeEarliest();
    const last = this.fullAt.size;
    if (last !== earliest) this.entries.renumber(last, earliest);
  }
}

function seconds(ticks: number, limit: number): number {
  return Math.ceil(ticks / (limit * 1000));
}
