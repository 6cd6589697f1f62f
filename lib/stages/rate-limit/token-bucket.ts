/**
 * The token buckets of one quota, by key, in the memory of this process. A bucket is stored as one number: the time at which it is
 * full again, its expiry. A token that is taken moves the expiry later by the time that one token needs. A full bucket and a missing
 * bucket mean the same, so above `SWEEP_ABOVE` buckets the full ones are removed, the earliest expiry first.
 *
 * Many clients, or one client that invents keys, may fill the table with buckets that are not full. Then the table stays at `MAX_BUCKETS`:
 * a new key replaces the bucket that is nearest to full, because its client gains the fewest tokens.
 */
import { KeyHash, BucketTable, NO_ENTRY } from "./bucket-table.js";
import { ExpiryQueue } from "./expiry-queue.js";
import { type Quota, RateLimitDecision } from "./quota.js";

/** The number of buckets up to which no bucket is removed. */
export const SWEEP_ABOVE = 8192;

/** The size of the table at which it stops growing; about 45 MB. */
const MAX_BUCKETS = 1_048_576;

export class TokenBuckets {
  private readonly hash = new KeyHash();
  private readonly entries = new BucketTable();
  /** In ticks; see `Quota`. An entry has the same number here and in `entries`. */
  private readonly expiries = new ExpiryQueue();
  /** The ticks that an empty bucket needs to become full. */
  private readonly ticksToFill: number;

  constructor(
    private readonly quota: Quota,
    private readonly maxBuckets = MAX_BUCKETS,
  ) {
    this.ticksToFill = quota.capacity * quota.windowMs;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Takes a token from the bucket of `key`. `now` is in milliseconds, from a monotonic clock. */
  take(key: string, now: number): RateLimitDecision {
    const { quota } = this;
    if (quota.isClosed) return new RateLimitDecision(false, quota.limit, 0, 0, 1);
    const tick = Math.floor(now) * quota.limit;
    if (this.entries.size > SWEEP_ABOVE) this.sweep(tick);
    const entry = this.entries.find(this.hash.compute(key));
    const before = entry === NO_ENTRY ? tick : Math.max(tick, this.expiries.getExpiry(entry));
    const after = before + quota.windowMs;
    if (after - tick > this.ticksToFill) return this.decide(false, before - tick);
    if (entry === NO_ENTRY) this.add(after);
    else this.expiries.postpone(entry, after);
    return this.decide(true, after - tick);
  }

  /** @param missing ticks until the bucket is full */
  private decide(isAdmitted: boolean, missing: number): RateLimitDecision {
    const { ticksToFill } = this;
    const { limit, windowMs } = this.quota;
    const remaining = Math.floor((ticksToFill - missing) / windowMs);
    const reset = toSeconds(missing, limit);
    const retryAfter = isAdmitted ? 0 : Math.max(1, toSeconds(missing + windowMs - ticksToFill, limit));
    return new RateLimitDecision(isAdmitted, limit, remaining, reset, retryAfter);
  }

  /** Adds a bucket under the current key of `hash`. */
  private add(expiry: number): void {
    const entry = this.entries.size < this.maxBuckets ? this.expiries.add(expiry) : this.replaceEarliest(expiry);
    this.entries.add(this.hash, entry);
  }

  private replaceEarliest(expiry: number): number {
    const { earliest } = this.expiries;
    this.entries.remove(earliest);
    this.expiries.replaceEarliest(expiry);
    return earliest;
  }

  private sweep(tick: number): void {
    const { expiries } = this;
    while (expiries.size > 0 && expiries.getExpiry(expiries.earliest) <= tick) this.removeEarliest();
  }

  private removeEarliest(): void {
    const { earliest } = this.expiries;
    this.entries.remove(earliest);
    this.expiries.removeEarliest();
    const last = this.expiries.size;
    if (last !== earliest) this.entries.renumber(last, earliest);
  }
}

function toSeconds(ticks: number, limit: number): number {
  return Math.ceil(ticks / (limit * 1000));
}
