/**
 * The entries of a `RedisCache`. Each call is one script and one round trip, so a reader never sees half of a change. Times are those of
 * the server.
 *
 * An entry is a hash: the value (`v`), the moment until which it is fresh (`f`), its tags with their versions (`t`). A tag is a key with a
 * random version, which an invalidation deletes. An entry is valid as long as its tags have the versions that they had before its value was
 * computed. A caller of `remember` adds its tags to the entry that it finds, and a value that is computed again keeps them. A claim holds
 * the token of the claimant and the versions of the tags.
 */
import { randomUUID } from "node:crypto";
import { FrameworkError } from "../../errors/framework-error.js";
import type { CacheScript } from "../cache.js";
import { CLAIM_LEASE_MS, type CacheEntries, type CacheLookup, type Claim } from "../cache-entries.js";
import {
  type CacheLifetime,
  MAX_CACHE_TAGS,
  readCacheValue,
  unreadableValue,
  writeCacheValue,
} from "../cache-value.js";

/** How much longer a tag lives than its entries. */
const TAG_MARGIN_MS = 1000;

/** Reads an entry if its tags are unchanged: value, moment, and a list of tags and versions. An invalid entry is overwritten or expires. */
const ENTRY = `
local function entry(key, prefix)
  local e = redis.call('HMGET', key, 'v', 'f', 't')
  if not e[1] then return nil end
  e[3] = cjson.decode(e[3])
  for i = 1, #e[3], 2 do
    if redis.call('GET', prefix .. e[3][i]) ~= e[3][i + 1] then return nil end
  end
  return e
end`;

/**
 * Stores the entry KEYS[1] with the tags from KEYS[first] on, whose names are in ARGV from `names` on, and with the tags `more`.
 *
 * Without memory Redis refuses the first command of a script that needs some. After any other write it refuses nothing.
 */
const STORE = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function keep(tag, life)
  if redis.call('PTTL', tag) < life + ${TAG_MARGIN_MS} then redis.call('PEXPIRE', tag, life + ${TAG_MARGIN_MS}) end
end
local function store(text, ttl, stale, first, names, version, prefix, more)
  local life = ttl + stale
  local t = {}
  local known = {}
  for i = first, #KEYS do
    redis.call('SET', KEYS[i], version, 'NX')
    keep(KEYS[i], life)
    local name = ARGV[names + i - first]
    known[name] = true
    t[#t + 1] = name
    t[#t + 1] = redis.call('GET', KEYS[i])
  end
  for i = 1, #more, 2 do
    if not known[more[i]] and #t < ${2 * MAX_CACHE_TAGS} then
      keep(prefix .. more[i], life)
      t[#t + 1] = more[i]
      t[#t + 1] = more[i + 1]
    end
  end
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
  redis.call('HSET', KEYS[1], 'v', text, 'f', string.format('%.0f', now() + ttl), 't', #t == 0 and '[]' or cjson.encode(t))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', life))
  redis.call('DEL', KEYS[2])
end`;

/** Adds the tags of the caller to the entry KEYS[1] with the tags `t`; false if there would be too many. */
const EXTEND = `
local function extend(t)
  local known = {}
  for i = 1, #t, 2 do known[t[i]] = true end
  local life = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[5]))
  local before = #t
  for i = 4, #KEYS do
    local name = ARGV[i + 2]
    if not known[name] then
      if #t == ${2 * MAX_CACHE_TAGS} then return false end
      redis.call('SET', KEYS[i], ARGV[4], 'NX')
      keep(KEYS[i], life)
      t[#t + 1] = name
      t[#t + 1] = redis.call('GET', KEYS[i])
    end
  end
  if #t > before then redis.call('HSET', KEYS[1], 't', cjson.encode(t)) end
  return true
end`;

/** The claim of a token with the current versions of the tags. */
const CLAIM = `
local function createClaim(token, first)
  local claim = token
  for i = first, #KEYS do claim = claim .. ' ' .. (redis.call('GET', KEYS[i]) or '') end
  return claim
end`;

const SOURCES = {
  /** KEYS: entry. ARGV: prefix of tags. */
  read: `${ENTRY}
local e = entry(KEYS[1], ARGV[1])
return e and e[1] or false`,
  /** KEYS: entry, claim, tags. ARGV: text, ttl, stale, version, names of tags. */
  write: `${STORE}
store(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), 3, 5, ARGV[4], '', {})`,
  /** KEYS: entry, claim. ARGV: prefix of tags. */
  delete: `${ENTRY}
local e = entry(KEYS[1], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2])
return e and 1 or 0`,
  /** KEYS: tags. A deletion works without memory too. */
  invalidate: `
redis.call('DEL', unpack(KEYS))`,
  /** KEYS: entry, claim, failure, tags. ARGV: prefix of tags, token, lease, version, life of tags, names of tags. */
  readOrClaim: `${ENTRY}${STORE}${EXTEND}${CLAIM}
local e = entry(KEYS[1], ARGV[1])
if e and not extend(e[3]) then e = nil end
if e and now() < tonumber(e[2]) then return {'fresh', e[1]} end
local failed = redis.call('EXISTS', KEYS[3]) == 1
if failed and not e then return {'failed'} end
local claimed = 0
if not failed then
  for i = 4, #KEYS do
    redis.call('SET', KEYS[i], ARGV[4], 'NX')
    if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[i], ARGV[5]) end
  end
  local current = redis.call('GET', KEYS[2])
  local token = current and string.match(current, '^%S+')
  if not current or (#KEYS > 3 and current ~= createClaim(token, 4)) then
    redis.call('SET', KEYS[2], createClaim(ARGV[2], 4), 'PX', ARGV[3])
    claimed = 1
  end
end
if e then return {'stale', e[1], claimed} end
return {claimed == 1 and 'claimed' or 'claimed-elsewhere'}`,
  /** KEYS: entry, claim, tags. ARGV: token, text, ttl, stale, version, prefix of tags, names of tags. */
  complete: `${ENTRY}${STORE}${CLAIM}
if redis.call('GET', KEYS[2]) ~= createClaim(ARGV[1], 3) then return 0 end
local e = entry(KEYS[1], ARGV[6])
store(ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), 3, 7, ARGV[5], ARGV[6], e and e[3] or {})
return 1`,
  /** KEYS: claim, failure. ARGV: token, milliseconds. */
  fail: `
local current = redis.call('GET', KEYS[1])
if current and string.match(current, '^%S+') == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
end`,
  /** KEYS: claim. ARGV: token, lease. */
  renew: `
local current = redis.call('GET', KEYS[1])
if current and string.match(current, '^%S+') == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end`,
} as const;

type Scripts = Readonly<Record<keyof typeof SOURCES, CacheScript>>;

export class RedisEntries implements CacheEntries {
  private readonly scripts: Scripts;

  /** @param prefix of every key, with its colon; @param script prepares a script whose keys get the prefix */
  constructor(
    private readonly prefix: string,
    script: (source: string) => CacheScript,
  ) {
    const names = Object.keys(SOURCES) as (keyof typeof SOURCES)[];
    // Every name of SOURCES is a name of Scripts.
    this.scripts = Object.fromEntries(names.map((name) => [name, script(SOURCES[name])])) as Scripts;
  }

  async read(key: string): Promise<unknown> {
    const text = await this.run("read", key, [entryKey(key)], [this.tagPrefix]);
    return typeof text === "string" ? readCacheValue(key, text) : undefined;
  }

  async write(key: string, value: unknown, { ttlMs, staleMs, tags }: CacheLifetime): Promise<void> {
    const text = writeCacheValue(key, value);
    const args = [text, ttlMs, staleMs, randomUUID(), ...tags];
    await this.run("write", key, [entryKey(key), claimKey(key), ...tags.map(tagKey)], args);
  }

  async delete(key: string): Promise<boolean> {
    return (await this.run("delete", key, [entryKey(key), claimKey(key)], [this.tagPrefix])) === 1;
  }

  async invalidate(tags: readonly string[]): Promise<void> {
    await this.scripts.invalidate.run(tags.map(tagKey), []);
  }

  async readOrClaim({ key, token }: Claim, { ttlMs, staleMs, tags }: CacheLifetime): Promise<CacheLookup> {
    const keys = [entryKey(key), claimKey(key), failureKey(key), ...tags.map(tagKey)];
    const tagLife = ttlMs + staleMs + CLAIM_LEASE_MS + TAG_MARGIN_MS;
    const args = [this.tagPrefix, token, CLAIM_LEASE_MS, randomUUID(), tagLife, ...tags];
    return readLookup(key, await this.run("readOrClaim", key, keys, args));
  }

  async complete({ key, token }: Claim, value: unknown, lifetime: CacheLifetime): Promise<unknown> {
    const { ttlMs, staleMs, tags } = lifetime;
    const text = writeCacheValue(key, value);
    const args = [token, text, ttlMs, staleMs, randomUUID(), this.tagPrefix, ...tags];
    await this.run("complete", key, [entryKey(key), claimKey(key), ...tags.map(tagKey)], args);
    return readCacheValue(key, text);
  }

  async fail({ key, token }: Claim, failureMs: number): Promise<void> {
    await this.run("fail", key, [claimKey(key), failureKey(key)], [token, failureMs]);
  }

  async renew({ key, token }: Claim): Promise<void> {
    await this.run("renew", key, [claimKey(key)], [token, CLAIM_LEASE_MS]);
  }

  private get tagPrefix(): string {
    return this.prefix + tagKey("");
  }

  private async run(
    name: keyof Scripts,
    key: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await this.scripts[name].run(keys, args);
    } catch (error) {
      throw isForeignValue(error) ? unreadableValue(key) : error;
    }
  }
}

// Values, claims and tags have separate prefixes, so that no key of one equals a key of another, or of a rate limit.
const entryKey = (key: string): string => `cache:${key}`;
const claimKey = (key: string): string => `cache-claim:${key}`;
const failureKey = (key: string): string => `cache-failure:${key}`;
const tagKey = (tag: string): string => `cache-tag:${tag}`;

/** Whether another program has written a value of another kind under the key, or fields that the script cannot read. */
function isForeignValue(error: unknown): boolean {
  const { cause } = error instanceof FrameworkError ? error : { cause: undefined };
  return cause instanceof Error && /WRONGTYPE|Expected .{1,100} but found|bad argument|attempt to/.test(cause.message);
}

/** @throws FrameworkError `E_CACHE_VALUE` for a reply that the script does not return */
function readLookup(key: string, reply: unknown): CacheLookup {
  const [state, text, claimed] = Array.isArray(reply) ? (reply as unknown[]) : [];
  if (state === "claimed" || state === "claimed-elsewhere" || state === "failed") return { state };
  if (typeof text !== "string") throw unreadableValue(key);
  const value = readCacheValue(key, text);
  return state === "stale" ? { state, value, isClaimed: claimed === 1 } : { state: "fresh", value };
}
