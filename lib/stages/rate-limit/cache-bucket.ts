/**
 * The token buckets of one quota in a store that all instances share. A script takes the token inside the store, in one atomic step
 * and one round trip, and reads the store's clock. So the quota is exact for any number of instances with any clocks.
 *
 * A bucket is a Redis hash with two fields: `t`, the tokens, and `u`, the time of the last count in milliseconds. It expires after
 * twice the time that it needs to become full.
 */
import type { Cache, CacheScript } from "../../cache/cache.js";
import { type Quota, RateLimitDecision } from "./quota.js";

const TAKE = `
local limit, window, capacity = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], 't', 'u')
local tokens, at = tonumber(stored[1]), tonumber(stored[2])
if tokens == nil or at == nil then tokens, at = capacity, now end
tokens = math.min(capacity, tokens + math.max(0, now - at) * limit / window)
-- Rounding may leave a sum of fractions slightly below its whole number.
local admitted = tokens > 1 - 1e-9
if admitted then tokens = math.max(0, tokens - 1) end
-- Write also when the store's clock was set back. Otherwise the bucket gets no tokens until the clock reaches the old time.
if admitted or now < at then
  redis.call('HSET', KEYS[1], 't', string.format('%.17g', tokens), 'u', string.format('%.0f', now))
  local keep = math.min(9e15, math.max(1000, math.ceil(2 * capacity * window / limit)))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', keep))
end
local reset = math.ceil((capacity - tokens) * window / limit)
local wait = math.ceil((1 - tokens) * window / limit)
return { admitted and 1 or 0, math.floor(tokens + 1e-9), reset, wait }`;

export class CacheBuckets {
  private readonly script: CacheScript;
  private readonly prefix: string;
  private readonly args: readonly number[];

  /** @param name distinguishes the limits on one cache; may be `""` */
  constructor(
    cache: Cache,
    private readonly quota: Quota,
    name: string,
  ) {
    this.prefix = name === "" ? "ratelimit:" : `ratelimit.${name}:`;
    this.args = [quota.limit, quota.windowMs, quota.capacity];
    this.script = cache.script(TAKE);
  }

  /** Rejects if the store does not respond. */
  take(key: string): Promise<RateLimitDecision> {
    const { limit, isClosed } = this.quota;
    if (isClosed) return Promise.resolve(new RateLimitDecision(false, limit, 0, 0, 1));
    return this.script.run([this.prefix + key], this.args).then((reply) => readReply(reply, limit));
  }
}

function readReply(reply: unknown, limit: number): RateLimitDecision {
  if (!Array.isArray(reply) || reply.length !== 4)
    throw new TypeError("the rate limit's script did not return four values");
  const [admitted = 0, remaining = 0, resetMs = 0, waitMs = 0] = reply.map(Number);
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
  return new RateLimitDecision(admitted === 1, limit, remaining, Math.ceil(resetMs / 1000), retryAfter);
}
