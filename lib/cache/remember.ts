/**
 * The computations of a cache: at most one for each key at a time, also between instances that share a store. All callers of a process
 * share one promise. Between instances the driver's claim decides: the other instances wait for the value, and one of them claims the
 * computation if the claimant dies. A wait for another caller ends after 30 seconds. A failure is shared as well, and remembered for a
 * short time, so that not every caller calls a failing source again.
 */
import { randomUUID } from "node:crypto";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import { describeThrown } from "../errors/thrown-value.js";
import type { Clock, Timer } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { tracing } from "../tracing/tracing.js";
import type { CacheReport } from "./cache-report.js";
import { CLAIM_LEASE_MS, type CacheEntries, type CacheLookup, type Claim } from "./cache-entries.js";
import { type CacheLifetime, readCacheValue, redactKey, writeCacheValue } from "./cache-value.js";

const log = tracing.target("framework::cache");

/** A failure is remembered for 75 to 125 ms, so that instances do not call a failing source at the same moment. */
const FAILURE_MS = 100;
/** How long a caller waits for the computation of another caller. */
const MAX_WAIT_MS = 30_000;
const MIN_POLL_MS = 10;
const MAX_POLL_MS = 250;

/** One call of `remember`. */
export interface RememberCall {
  readonly key: string;
  readonly lifetime: CacheLifetime;
  readonly make: () => unknown;
  /** Checks a stored value. If it throws, the value counts as a miss. */
  readonly check?: ((value: unknown) => unknown) | undefined;
  /** Whether a failing store is bypassed: each process then computes the value. */
  readonly mayBypass: boolean;
}

interface SharedComputation {
  readonly value: Promise<unknown>;
  /** The tags of all callers. */
  readonly tags: Set<string>;
  /** The value for further callers, who wait for a bounded time. */
  bounded: Promise<unknown> | undefined;
}

export class Computations {
  private readonly running = new Map<string, SharedComputation>();

  constructor(
    private readonly entries: CacheEntries,
    private readonly clock: Clock,
    private readonly report: CacheReport,
  ) {}

  /** The value of the key: the stored value, or the result of a computation, which callers of the same key share. */
  findOrCompute(call: RememberCall): Promise<unknown> {
    const { key, lifetime } = call;
    const running = this.running.get(key);
    if (running !== undefined) {
      this.report.reads.shared.value += 1;
      for (const tag of lifetime.tags) running.tags.add(tag);
      return (running.bounded ??= markHandled(this.withinLimit(key, running.value)));
    }
    const value = markHandled(this.find(call));
    const entry: SharedComputation = { value, tags: new Set(lifetime.tags), bounded: undefined };
    this.running.set(key, entry);
    const removeComputation = (): void => {
      if (this.running.get(key) === entry) this.running.delete(key);
    };
    value.then(removeComputation, () =>
      this.clock.setTimeout(removeComputation, addJitter(FAILURE_MS), { background: true }),
    );
    return value;
  }

  /** Later callers do not share the running computation of this key. */
  forget(key: string): void {
    this.running.delete(key);
  }

  /** Does the same for each computation whose callers named one of these tags. */
  forgetTags(tags: readonly string[]): void {
    for (const [key, running] of this.running) {
      if (tags.some((tag) => running.tags.has(tag))) this.running.delete(key);
    }
  }

  /** A computation that never settles would otherwise collect callers without bound. */
  private withinLimit(key: string, value: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimeout(() => reject(takesTooLong(key)), MAX_WAIT_MS, { background: true });
      value.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  private async find(call: RememberCall): Promise<unknown> {
    const { key, make, mayBypass } = call;
    const claim: Claim = { key, token: randomUUID() };
    let found: { readonly value: unknown } | undefined;
    try {
      found = await this.findStored(claim, call);
    } catch (error) {
      if (!mayBypass || !isUnavailable(error)) throw error;
      this.warnBypass(key, error);
      return toStored(key, await this.report.run("compute", make));
    }
    return found === undefined ? this.compute(claim, call) : found.value;
  }

  /** The stored value; `undefined` if the caller has the claim to compute it. */
  private async findStored(claim: Claim, call: RememberCall): Promise<{ readonly value: unknown } | undefined> {
    const end = this.clock.monotonic() + MAX_WAIT_MS;
    let isCounted = false;
    for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
      const lookup = await this.entries.readOrClaim(claim, call.lifetime);
      if (!isCounted) this.count(lookup);
      isCounted = true;
      if (lookup.state === "claimed") return undefined;
      if (lookup.state === "failed") throw failedElsewhere(call.key);
      if (lookup.state === "claimed-elsewhere") {
        if (this.clock.monotonic() >= end) throw takesTooLong(call.key);
        await this.delay(addJitter(pollMs));
        continue;
      }
      const accepted = await this.accept(call, lookup.value);
      if (!accepted) continue;
      if (lookup.state === "stale" && lookup.isClaimed) this.refresh(claim, call);
      return accepted;
    }
  }

  private count({ state }: CacheLookup): void {
    const result = state === "fresh" ? "hit" : state === "stale" ? "stale" : "miss";
    this.report.reads[result].value += 1;
  }

  /** A stored value that the key's check refuses is deleted: an older program may have written it. */
  private async accept(
    { key, check }: RememberCall,
    stored: unknown,
  ): Promise<{ readonly value: unknown } | undefined> {
    if (check === undefined) return { value: stored };
    try {
      return { value: await check(stored) };
    } catch (error) {
      log.warn("a cached value was refused, and is computed again", { key: redactKey(key), ...describeThrown(error) });
      await this.entries.delete(key);
      return undefined;
    }
  }

  private async compute(claim: Claim, call: RememberCall): Promise<unknown> {
    const renewal = this.renewClaim(claim);
    try {
      return await this.complete(claim, await this.runMake(claim, call), call);
    } finally {
      renewal.cancel();
    }
  }

  private async runMake(claim: Claim, { make }: RememberCall): Promise<unknown> {
    try {
      return await this.report.run("compute", make);
    } catch (error) {
      await this.failClaim(claim);
      throw error;
    }
  }

  private async complete(claim: Claim, value: unknown, { key, lifetime, mayBypass }: RememberCall): Promise<unknown> {
    try {
      return await this.entries.complete(claim, value, lifetime);
    } catch (error) {
      // The first error counts. If the store fails, the claim ends with its lease.
      if (!isUnavailable(error)) await this.failClaim(claim);
      else if (mayBypass) {
        this.warnBypass(key, error);
        return toStored(key, value);
      }
      throw error;
    }
  }

  private warnBypass(key: string, error: unknown): void {
    log.warn("the cache is bypassed", { key: redactKey(key), ...describeThrown(error) });
  }

  /** Computes a new value while callers get the stale one. */
  private refresh(claim: Claim, call: RememberCall): void {
    this.compute(claim, call).catch((error: unknown) =>
      log.warn("a stale value could not be computed again", { key: redactKey(claim.key), ...describeThrown(error) }),
    );
  }

  private async failClaim(claim: Claim): Promise<void> {
    try {
      await this.entries.fail(claim, addJitter(FAILURE_MS));
    } catch (error) {
      log.debug("a claim ends by its lease", { key: redactKey(claim.key), ...describeThrown(error) });
    }
  }

  /** Renews the lease at each third, also if a renewal fails: a later one may succeed. */
  private renewClaim(claim: Claim): Timer {
    let timer: Timer;
    let isCancelled = false;
    const arm = (): void => {
      timer = this.clock.setTimeout(renew, CLAIM_LEASE_MS / 3, { background: true });
    };
    const renew = (): void => {
      void Promise.resolve()
        .then(() => this.entries.renew(claim))
        .catch(() => {})
        .then(() => {
          if (!isCancelled) arm();
        });
    };
    arm();
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  private delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }
}

/** The value as a store returns it: converted by JSON, and frozen. */
function toStored(key: string, value: unknown): unknown {
  return readCacheValue(key, writeCacheValue(key, value));
}

/** 75 to 125 per cent, a whole number. */
function addJitter(ms: number): number {
  return Math.ceil(ms * (0.75 + Math.random() / 2));
}

function isUnavailable(error: unknown): boolean {
  return error instanceof FrameworkError && error.code === "E_CACHE_UNAVAILABLE";
}

function failedElsewhere(key: string): UnavailableError {
  return new UnavailableError("A value could not be computed. Please try again shortly.", {
    code: "E_CACHE_COMPUTATION",
    cause: new Error(`the computation of ${JSON.stringify(redactKey(key))} has just failed in another process`),
  });
}

function takesTooLong(key: string): UnavailableError {
  return new UnavailableError("A value takes too long to compute. Please try again shortly.", {
    code: "E_CACHE_COMPUTATION",
    cause: new Error(
      `the computation of ${JSON.stringify(redactKey(key))} takes over ${MAX_WAIT_MS} ms; give it a separate time limit`,
    ),
  });
}
