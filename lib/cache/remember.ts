/**
 * The computations of a cache: at most one for each key at a time, also between instances that share a store. All callers of a process
 * share one promise. Between instances the driver's claim decides; the other instances wait for the value, and one of them takes over if
 * the claimant dies. A wait for another caller ends after 30 seconds. A failure is shared as well, and kept for a short time, so that not
 * every caller asks a failing source again.
 */
import { randomUUID } from "node:crypto";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import { describeThrown } from "../errors/thrown-value.js";
import type { Clock, Timer } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { tracing } from "../tracing/tracing.js";
import type { CacheReport } from "./cache-report.js";
import { CLAIM_LEASE_MS, type CacheEntries, type CacheLook, type Claim } from "./cache-entries.js";
import { type CacheLifetime, readCacheValue, shownKey, writeCacheValue } from "./cache-value.js";

const log = tracing.target("framework::cache");

/** A failure is kept for 75 to 125 ms, so that instances do not ask a failing source at the same moment. */
const FAILURE_MS = 100;
/** How long a caller waits for the computation of another caller. */
const LONGEST_WAIT_MS = 30_000;
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;

/** One call of `remember`. */
export interface Wanted {
  readonly key: string;
  readonly lifetime: CacheLifetime;
  readonly make: () => unknown;
  /** Checks a stored value; what it throws makes the value a miss. */
  readonly check?: ((value: unknown) => unknown) | undefined;
  /** Whether a store that fails is left out: the value is then computed in each process. */
  readonly mayBypass: boolean;
}

interface SharedComputation {
  readonly value: Promise<unknown>;
  /** Those of all callers. */
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

  /** The value of the key: the stored one, or that of a computation, which callers of the same key share. */
  valueOf(wanted: Wanted): Promise<unknown> {
    const { key, lifetime } = wanted;
    const running = this.running.get(key);
    if (running !== undefined) {
      this.report.reads.shared.value += 1;
      for (const tag of lifetime.tags) running.tags.add(tag);
      return (running.bounded ??= markHandled(this.withinLimit(key, running.value)));
    }
    const value = markHandled(this.find(wanted));
    const entry: SharedComputation = { value, tags: new Set(lifetime.tags), bounded: undefined };
    this.running.set(key, entry);
    const over = (): void => {
      if (this.running.get(key) === entry) this.running.delete(key);
    };
    value.then(over, () => this.clock.setTimeout(over, jittered(FAILURE_MS), { background: true }));
    return value;
  }

  /** Later callers do not share the running computation of this key. */
  forget(key: string): void {
    this.running.delete(key);
  }

  /** Does the same for each computation that was asked for with one of these tags. */
  forgetTags(tags: readonly string[]): void {
    for (const [key, running] of this.running) {
      if (tags.some((tag) => running.tags.has(tag))) this.running.delete(key);
    }
  }

  /** A computation that never ends would otherwise collect callers without bound. */
  private withinLimit(key: string, value: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimeout(() => reject(takesTooLong(key)), LONGEST_WAIT_MS, { background: true });
      value.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  private async find(wanted: Wanted): Promise<unknown> {
    const { key, make, mayBypass } = wanted;
    const claim: Claim = { key, token: randomUUID() };
    let found: { readonly value: unknown } | undefined;
    try {
      found = await this.findStored(claim, wanted);
    } catch (error) {
      if (!mayBypass || !isUnavailable(error)) throw error;
      this.tellBypass(key, error);
      return asStored(key, await this.report.run("compute", make));
    }
    return found === undefined ? this.compute(claim, wanted) : found.value;
  }

  /** The stored value; `undefined` if the caller has the claim to compute it. */
  private async findStored(claim: Claim, wanted: Wanted): Promise<{ readonly value: unknown } | undefined> {
    const end = this.clock.monotonic() + LONGEST_WAIT_MS;
    let isCounted = false;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LONGEST_POLL_MS)) {
      const look = await this.entries.look(claim, wanted.lifetime);
      if (!isCounted) this.count(look);
      isCounted = true;
      if (look.state === "claimed") return undefined;
      if (look.state === "failed") throw failedElsewhere(wanted.key);
      if (look.state === "held") {
        if (this.clock.monotonic() >= end) throw takesTooLong(wanted.key);
        await this.delay(jittered(pollMs));
        continue;
      }
      const accepted = await this.accept(wanted, look.value);
      if (!accepted) continue;
      if (look.state === "stale" && look.isClaimed) this.refresh(claim, wanted);
      return accepted;
    }
  }

  private count({ state }: CacheLook): void {
    const result = state === "fresh" ? "hit" : state === "stale" ? "stale" : "miss";
    this.report.reads[result].value += 1;
  }

  /** A stored value that the key's check refuses is deleted: an older program may have written it. */
  private async accept({ key, check }: Wanted, stored: unknown): Promise<{ readonly value: unknown } | undefined> {
    if (check === undefined) return { value: stored };
    try {
      return { value: await check(stored) };
    } catch (error) {
      log.warn("a cached value was refused, and is made again", { key: shownKey(key), ...describeThrown(error) });
      await this.entries.delete(key);
      return undefined;
    }
  }

  private async compute(claim: Claim, wanted: Wanted): Promise<unknown> {
    const renewal = this.keepClaim(claim);
    try {
      return await this.complete(claim, await this.made(claim, wanted), wanted);
    } finally {
      renewal.cancel();
    }
  }

  private async made(claim: Claim, { make }: Wanted): Promise<unknown> {
    try {
      return await this.report.run("compute", make);
    } catch (error) {
      await this.tell(claim);
      throw error;
    }
  }

  private async complete(claim: Claim, value: unknown, { key, lifetime, mayBypass }: Wanted): Promise<unknown> {
    try {
      return await this.entries.complete(claim, value, lifetime);
    } catch (error) {
      // The first error counts, and a store that fails now ends the claim by its lease.
      if (!isUnavailable(error)) await this.tell(claim);
      else if (mayBypass) {
        this.tellBypass(key, error);
        return asStored(key, value);
      }
      throw error;
    }
  }

  private tellBypass(key: string, error: unknown): void {
    log.warn("the cache is bypassed", { key: shownKey(key), ...describeThrown(error) });
  }

  /** Makes a new value while callers get the stale one. */
  private refresh(claim: Claim, wanted: Wanted): void {
    this.compute(claim, wanted).catch((error: unknown) =>
      log.warn("a stale value could not be made again", { key: shownKey(claim.key), ...describeThrown(error) }),
    );
  }

  private async tell(claim: Claim): Promise<void> {
    try {
      await this.entries.fail(claim, jittered(FAILURE_MS));
    } catch (error) {
      log.debug("a claim ends by its lease", { key: shownKey(claim.key), ...describeThrown(error) });
    }
  }

  /** Renews the lease at each third, also if a renewal fails: a later one may succeed. */
  private keepClaim(claim: Claim): Timer {
    let timer: Timer;
    let isOver = false;
    const arm = (): void => {
      timer = this.clock.setTimeout(renew, CLAIM_LEASE_MS / 3, { background: true });
    };
    const renew = (): void => {
      void Promise.resolve()
        .then(() => this.entries.renew(claim))
        .catch(() => {})
        .then(() => {
          if (!isOver) arm();
        });
    };
    arm();
    return {
      cancel: () => {
        isOver = true;
        timer.cancel();
      },
    };
  }

  private delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }
}

/** The value as a store gives it: what JSON makes of it, frozen. */
function asStored(key: string, value: unknown): unknown {
  return readCacheValue(key, writeCacheValue(key, value));
}

/** 75 to 125 per cent, a whole number. */
function jittered(ms: number): number {
  return Math.ceil(ms * (0.75 + Math.random() / 2));
}

function isUnavailable(error: unknown): boolean {
  return error instanceof FrameworkError && error.code === "E_CACHE_UNAVAILABLE";
}

function failedElsewhere(key: string): UnavailableError {
  return new UnavailableError("A value could not be computed. Please try again shortly.", {
    code: "E_CACHE_COMPUTATION",
    cause: new Error(`the computation of ${JSON.stringify(shownKey(key))} has just failed in another process`),
  });
}

function takesTooLong(key: string): UnavailableError {
  return new UnavailableError("A value takes too long to compute. Please try again shortly.", {
    code: "E_CACHE_COMPUTATION",
    cause: new Error(
      `the computation of ${JSON.stringify(shownKey(key))} takes over ${LONGEST_WAIT_MS} ms; give it a time limit of its own`,
    ),
  });
}
