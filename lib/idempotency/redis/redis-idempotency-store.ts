/**
 * Idempotency keys in Redis, shared by all processes of an application; the entry point `@stagecraft/framework/idempotency/redis`. It uses
 * the connection of a `RedisCache`. Each step is one script: one round trip and one atomic step.
 *
 * It promises that a handler runs at most once for each key. It cannot roll effects back: after a failure, and where a process died or lost
 * its lease, the outcome is unknown, and the key stays so until it expires. A Redis that is full must refuse writes (`noeviction`), because a
 * key that it removes is free again.
 *
 * A key is a hash under `<namespace>:idempotency:<id>`. The clocks of the applications decide when a lease or a key has ended, the clock of
 * Redis when its memory is freed.
 *
 * @example
 * const cache = new RedisCache({ url: "redis://cache.internal:6379", namespace: "shop" });
 * new Idempotency(new RedisIdempotencyStore(cache), { principal: (ctx: Context & { user?: User }) => ctx.user?.id });
 */
import { randomUUID } from "node:crypto";
import type { Cache, CacheScript } from "../../cache/cache.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { describeThrown } from "../../errors/thrown-value.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { type Clock, sleep } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import {
  type ClaimState,
  type IdempotencyClaim,
  IdempotencyStore,
  type IdempotentWork,
  MAX_WAIT_MS,
  RAN,
  RUNNING,
  type WorkResult,
} from "../idempotency-store.js";
import { parseResponse, serializeResponse } from "../recorded-response.js";

const log = tracing.target("framework::idempotency");

/**
 * KEYS: the key.
 *
 * Fields: `f` the fingerprint, `t` the token of the process that has the key, `l` the end of its lease, `x` the end of the key, `s` its state
 * (`running`, `unknown`, `recorded`, `unstored`), `r` the response.
 *
 * ARGV: the operation, now, the token, the fingerprint, the time to live. `claim`: the lease. `settle`: the state and the response; an empty
 * state frees the key.
 */
const SCRIPT = `
local key, now, token, fingerprint, ttl = KEYS[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local function text(number) return string.format('%.0f', number) end
local function store(state, response, lease, ms)
  redis.call('HSET', key, 'f', fingerprint, 't', token, 'l', text(now + lease), 'x', text(now + ms), 's', state, 'r', response)
  redis.call('PEXPIRE', key, text(ms))
end
local found = redis.call('HMGET', key, 'f', 't', 'l', 'x', 's', 'r')
local isLive = found[4] and tonumber(found[4]) > now
if ARGV[1] == 'claim' then
  local lease = tonumber(ARGV[6])
  if not isLive then
    store('running', '', lease, math.max(ttl, lease))
    return { 'claimed' }
  end
  if found[5] == 'running' and tonumber(found[3]) <= now then return { 'unknown', found[1] } end
  return { found[5], found[1], found[6] }
end
if isLive and found[2] ~= token then return { 'lost' } end
if ARGV[6] == '' then redis.call('DEL', key) else store(ARGV[6], ARGV[7], 0, ttl) end
return { 'settled' }`;

export interface RedisIdempotencyStoreOptions {
  /**
   * How long a handler may run, in milliseconds; 60,000 unless set. After this time a request with the same key learns that the outcome is
   * unknown, until the handler ends.
   */
  readonly leaseMs?: number;
}

const DEFAULT_LEASE_MS = 60_000;
const MAX_LEASE_MS = 86_400_000;
const POLL_EVERY_MS = 50;
/** Where the connection is lost, further attempts to record a key are 250, 750, 1500 and 2500 ms later. */
const SETTLE_AGAIN_MS = 250;
const LATER_ATTEMPTS = 4;

const FAILED: WorkResult = { outcome: "failed", response: undefined };
const RELEASED: WorkResult = { outcome: "released", response: undefined };

export class RedisIdempotencyStore extends IdempotencyStore {
  private readonly script: CacheScript;
  private readonly leaseMs: number;

  /** @throws FrameworkError `E_CACHE_SCRIPT` for a cache without scripts, `E_IDEMPOTENCY_OPTION`, `E_OPTION` */
  constructor(
    private readonly cache: Cache,
    options: RedisIdempotencyStoreOptions = {},
  ) {
    super();
    checkOptionNames<RedisIdempotencyStoreOptions>(options, { leaseMs: true }, "new RedisIdempotencyStore");
    const { leaseMs = DEFAULT_LEASE_MS } = options;
    this.leaseMs = checkWholeNumber("E_IDEMPOTENCY_OPTION", "leaseMs", leaseMs, [1000, MAX_LEASE_MS]);
    this.script = cache.script(SCRIPT);
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.cache];
  }

  override async run(claim: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState> {
    const token = randomUUID();
    const state = await this.waitForKey(claim, token);
    if (state !== undefined) return state;
    let result = FAILED;
    try {
      result = await work();
    } finally {
      await this.settle(claim, token, result);
    }
    return RAN;
  }

  /** `undefined` where this call has claimed the key. */
  private async waitForKey(claim: IdempotencyClaim, token: string): Promise<ClaimState | undefined> {
    const { clock } = claim;
    const deadline = clock.monotonic() + MAX_WAIT_MS;
    for (;;) {
      const state = readState(await this.claim(claim, token));
      if (state !== RUNNING || clock.monotonic() >= deadline) return state;
      await sleep(clock, POLL_EVERY_MS);
    }
  }

  /** Redis may have made a claim whose reply was lost, and no handler runs for it. */
  private async claim(claim: IdempotencyClaim, token: string): Promise<readonly unknown[]> {
    try {
      return await this.call(claim, "claim", token, this.leaseMs);
    } catch (error) {
      void this.settle(claim, token, RELEASED);
      throw error;
    }
  }

  /** Never rejects: the effects stand, and the client gets its response. It waits for the first attempt alone. */
  private async settle(claim: IdempotencyClaim, token: string, { outcome, response }: WorkResult): Promise<void> {
    const isRecorded = outcome === "done" || outcome === "refused";
    const recorded = response === undefined ? "unstored" : "recorded";
    const unrecorded = outcome === "released" ? "" : "unknown";
    const text = response === undefined ? "" : serializeResponse(response);
    const call = (): Promise<unknown> => this.trySettle(claim, token, isRecorded ? recorded : unrecorded, text);
    const error = await call();
    if (error !== undefined) void this.settleLater(claim.clock, call, error);
  }

  private async settleLater(clock: Clock, call: () => Promise<unknown>, first: unknown): Promise<void> {
    let error = first;
    for (let attempt = 1; attempt <= LATER_ATTEMPTS && error !== undefined; attempt++) {
      await new Promise<void>((resolve) => clock.setTimeout(resolve, SETTLE_AGAIN_MS * attempt, { background: true }));
      error = await call();
    }
    if (error !== undefined) log.warn("an idempotency key was not recorded", describeThrown(error));
  }

  /** Resolves with the error of the call. */
  private async trySettle(claim: IdempotencyClaim, token: string, state: string, text: string): Promise<unknown> {
    try {
      const [reply] = await this.call(claim, "settle", token, state, text);
      // Another request has the key of a claim that Redis never made.
      if (reply !== "settled" && state !== "") log.warn("an idempotency key expired before its handler ended");
      return undefined;
    } catch (error) {
      return error;
    }
  }

  private async call(
    { id, fingerprint, ttlMs, clock }: IdempotencyClaim,
    operation: string,
    token: string,
    ...args: readonly (string | number)[]
  ): Promise<readonly unknown[]> {
    const common = [operation, clock.now(), token, fingerprint, ttlMs];
    const reply = await this.script.run([`idempotency:${id}`], [...common, ...args]);
    return Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  }
}

function readState([kind, fingerprint, response]: readonly unknown[]): ClaimState | undefined {
  if (kind === "claimed") return undefined;
  if (kind === "running") return RUNNING;
  if (typeof fingerprint !== "string") throw unreadable();
  if (kind === "unknown") return { kind, fingerprint };
  if (kind === "unstored") return { kind: "recorded", fingerprint, response: undefined };
  if (kind === "recorded") return { kind, fingerprint, response: parseResponse(String(response)) };
  throw unreadable();
}

function unreadable(): TypeError {
  return new TypeError("the script of the idempotency keys returned a reply that it cannot return");
}
