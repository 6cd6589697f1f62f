/**
 * Sessions in Redis, shared by all processes of an application; the entry point `@stagecraft/framework/session/redis`. It uses the
 * connection of a `RedisCache`. Each operation is one script: one round trip and one atomic step.
 *
 * A record is a hash under `<namespace>:session:<key>`, one field for each value. It expires by itself. The clock of the application
 * decides when a record has expired, the clock of Redis when its memory is freed.
 *
 * The keys of the sessions of an owner are a sorted set under `<namespace>:session:owner:<owner>`, scored by the times of expiry. It has no
 * more members than the owner has unexpired sessions, and expires with the last of them.
 *
 * @example
 * const cache = new RedisCache({ url: "redis://cache.internal:6379", namespace: "shop" });
 * builder.session(new SessionConfig(key), new RedisSessionStore(cache));
 */
import { Cache, type CacheScript } from "../../../../cache/cache.js";
import type { Subsystem } from "../../../../lifecycle/subsystem.js";
import {
  MAX_LISTED_SESSIONS,
  OWNER_NAME,
  REMEMBER_ENDED_MS,
  RENEW_AFTER_MS,
  SessionStore,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
  type StoredSession,
} from "../session-store.js";

/**
 * KEYS: the record, and the new one of a move; to list, the sorted set of the owner.
 *
 * Fields: `k` the key, `c` created, `r` renewed, `x` expires, `e` ended; a value has `v` in front of its name.
 *
 * ARGV: the operation, now, started, idle, absolute, renew (1 or 0), renew after, remember ended, the key and the new key, the number of
 * names to delete, these names, then names and values to set.
 */
const SCRIPT = `
local op = ARGV[1]
local now, started, idle, absolute = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local renew, renewAfter = ARGV[6] == '1', tonumber(ARGV[7])
local record, target = KEYS[1], KEYS[2]
local function text(number) return string.format('%.0f', number) end
local function expire(key, ms) redis.call('PEXPIRE', key, text(math.max(1, math.min(ms, 9e15)))) end
local prefix = string.sub(record, 1, #record - #ARGV[9])
local function list(owner) return prefix .. 'owner:' .. owner end
local function add(owner, key, expires)
  local life = expires - now
  redis.call('ZADD', list(owner), text(expires), key)
  redis.call('ZREMRANGEBYSCORE', list(owner), '-inf', text(now))
  if redis.call('PTTL', list(owner)) < life then expire(list(owner), life) end
end
local function remove(owner, key) redis.pcall('ZREM', list(owner), key) end
local function ownerAfter(owner)
  local count = tonumber(ARGV[11])
  for at = 12, 11 + count do if ARGV[at] == '${OWNER_NAME}' then owner = false end end
  for at = 12 + count, #ARGV, 2 do if ARGV[at] == '${OWNER_NAME}' then owner = ARGV[at + 1] end end
  return owner
end
local function number(text)
  local found = tonumber(text or '')
  -- Also neither infinite nor NaN.
  if found and found - found == 0 then return found end
end
local function stop()
  -- A record that another program has changed ends too.
  local owner = redis.pcall('HGET', record, 'v${OWNER_NAME}')
  redis.call('DEL', record)
  redis.call('HSET', record, 'e', text(now))
  expire(record, tonumber(ARGV[8]))
  if type(owner) == 'string' then remove(owner, ARGV[9]) end
end
local function change(key)
  local count = tonumber(ARGV[11])
  -- First the writes that need memory: when memory is full, Redis refuses them, but not after another write of the script.
  for at = 12 + count, #ARGV, 2 do redis.call('HSET', key, 'v' .. ARGV[at], ARGV[at + 1]) end
  for at = 12, 11 + count do redis.call('HDEL', key, 'v' .. ARGV[at]) end
end
local function live(key, created, renewed)
  local expires = math.min(now + idle, created + absolute)
  -- First the write that needs no memory, so that a renewal works without any: its fields replace some of the same length.
  expire(key, expires - now)
  redis.call('HSET', key, 'c', text(created), 'r', text(renewed), 'x', text(expires))
  return expires
end
local function updated(key, isRenewed, expires)
  return { 'updated', isRenewed and 1 or 0, text(expires), redis.call('HLEN', key) - 4 }
end
if op == 'create' then
  if redis.call('EXISTS', record) == 1 then return 0 end
  redis.call('HSET', record, 'k', ARGV[9])
  change(record)
  local expires, owner = live(record, now, renew and now or now - renewAfter), ownerAfter(false)
  if owner then add(owner, ARGV[9], expires) end
  return 1
end
if op == 'end' then return stop() end
if op == 'list' then
  local found = {}
  for _, key in ipairs(redis.call('ZREVRANGEBYSCORE', record, '+inf', '(' .. text(now), 'LIMIT', 0, ${MAX_LISTED_SESSIONS})) do
    -- A version without owners may have moved or ended a session, and a server without memory may have removed it.
    if 'owner:' .. (redis.call('HGET', prefix .. key, 'v${OWNER_NAME}') or '') == ARGV[9] then
      found[#found + 1] = redis.call('HGETALL', prefix .. key)
    else
      redis.call('ZREM', record, key)
    end
  end
  return found
end
if op == 'move' and redis.call('EXISTS', target) == 1 then return { 'taken' } end
local fields = redis.call('HMGET', record, 'k', 'c', 'r', 'x', 'e', 'v${OWNER_NAME}')
local created, renewed, expires, ended = number(fields[2]), number(fields[3]), number(fields[4]), number(fields[5])
local owner = fields[6]
if not (fields[1] == ARGV[9] and created and renewed and expires) then
  -- A record that another program has changed is a failure, and never a missing session.
  if not ended and redis.call('EXISTS', record) == 1 then return redis.error_reply('BROKEN the record is not as the session store has written it') end
  expires = 0
end
if expires <= now then
  if op == 'load' then return {} end
  return { ended and ended >= started and 'ended' or 'unknown' }
end
if op == 'load' then return redis.call('HGETALL', record) end
local nextOwner = ownerAfter(owner)
change(record)
if op == 'move' then
  redis.call('RENAME', record, target)
  stop()
  redis.call('HSET', target, 'k', ARGV[10])
  expires = live(target, created, now)
  if owner then remove(owner, ARGV[9]) end
  if nextOwner then add(nextOwner, ARGV[10], expires) end
  return updated(target, true, expires)
end
local isRenewed = renew and now - renewed >= renewAfter
if isRenewed then expires = live(record, created, now) end
if owner and nextOwner ~= owner then remove(owner, ARGV[9]) end
if nextOwner and (isRenewed or nextOwner ~= owner) then add(nextOwner, ARGV[9], expires) end
return updated(record, isRenewed, expires)`;

const NO_VALUES: SessionChanges = { set: new Map(), deleted: [] };
const NO_TIME = { startedAt: 0, idleMs: 0, absoluteMs: 0, renew: false };

export class RedisSessionStore extends SessionStore {
  private readonly script: CacheScript;

  constructor(private readonly cache: Cache) {
    super();
    this.script = cache.script(SCRIPT);
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.cache];
  }

  override async load(key: string, now: number): Promise<StoredSession | undefined> {
    return readRecord(await this.run("load", [key], { ...NO_TIME, now }));
  }

  override async create(key: string, values: SessionValues, times: SessionTimes): Promise<boolean> {
    return (await this.run("create", [key], times, { set: values, deleted: [] })) === 1;
  }

  override async update(key: string, changes: SessionChanges, times: SessionTimes): Promise<SessionUpdate> {
    const update = readUpdate(await this.run("update", [key], times, changes));
    if (update === "taken") throw unreadable();
    return update;
  }

  override async move(
    from: string,
    to: string,
    changes: SessionChanges,
    times: SessionTimes,
  ): Promise<SessionUpdate | "taken"> {
    return readUpdate(await this.run("move", [from, to], times, changes));
  }

  override async end(key: string, now: number): Promise<void> {
    await this.run("end", [key], { ...NO_TIME, now });
  }

  override async listOfOwner(owner: string, now: number): Promise<readonly StoredSession[]> {
    const found = await this.run("list", [`owner:${owner}`], { ...NO_TIME, now });
    if (!Array.isArray(found)) throw unreadable();
    const records = found.map(readRecord).filter((record) => record !== undefined);
    return records.toSorted((one, other) => other.renewedAt - one.renewedAt);
  }

  /** Redis deletes the records itself. */
  override sweepExpired(): number {
    return 0;
  }

  private run(
    operation: string,
    keys: readonly [string, string?],
    { now, startedAt, idleMs, absoluteMs, renew }: SessionTimes,
    { set, deleted }: SessionChanges = NO_VALUES,
  ): Promise<unknown> {
    const [from, to = ""] = keys;
    const times = [now, startedAt, idleMs, absoluteMs, renew ? 1 : 0, RENEW_AFTER_MS, REMEMBER_ENDED_MS];
    const changes = [deleted.length, ...deleted, ...[...set].flat()];
    const names = to === "" ? [`session:${from}`] : [`session:${from}`, `session:${to}`];
    return this.script.run(names, [operation, ...times, from, to, ...changes]);
  }
}

/** Reads the fields of a hash, alternating names and values; there are none for a record that does not exist. */
function readRecord(reply: unknown): StoredSession | undefined {
  if (!Array.isArray(reply) || reply.length % 2 !== 0) throw unreadable();
  if (reply.length === 0) return undefined;
  const values = new Map<string, string>();
  const fields = new Map<string, string>();
  for (let at = 0; at < reply.length; at += 2) {
    const field = String(reply[at]);
    if (field.startsWith("v")) values.set(field.slice(1), String(reply[at + 1]));
    else fields.set(field, String(reply[at + 1]));
  }
  const renewedAt = Number(fields.get("r"));
  if (!Number.isFinite(renewedAt)) throw unreadable();
  return { key: fields.get("k") ?? "", values, renewedAt };
}

function readUpdate(reply: unknown): SessionUpdate | "taken" {
  const [kind, isRenewed, expiresAt, size] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  if (kind === "ended" || kind === "unknown" || kind === "taken") return kind;
  const updated = { isRenewed: isRenewed === 1, expiresAt: Number(expiresAt), size: Number(size) };
  if (kind === "updated" && Number.isFinite(updated.expiresAt) && Number.isFinite(updated.size)) return updated;
  throw unreadable();
}

function unreadable(): TypeError {
  return new TypeError("the session's script returned a reply that it cannot return");
}
