/**
 * A store of values that expire: JSON values under keys, with tags. Several instances of an application may share it. Provide
 * `MemoryCache` (`@stagecraft/framework/cache`) or `RedisCache` (`@stagecraft/framework/cache/redis`) for this class, and inject the class.
 *
 * A failure of the store is an error, never a miss. Values are frozen JSON: one that JSON would change, such as a `Date`, is refused.
 *
 * Not for values that must not be lost, and not for values that one process can keep in a `Map`.
 *
 * @example
 * const RATES = cacheKey<Rates>("rates");
 * constructor(private readonly cache: Cache) {}
 * rates() { return this.cache.remember(RATES, 60_000, () => this.bank.rates(), { staleMs: 600_000, tags: ["bank"] }); }
 */
import { UnavailableError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { untilAborted } from "../runtime/abortable.js";
import { type Clock, SystemClock } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import type { CacheEntries } from "./cache-entries.js";
import { checkKey, checkTags, readLifetime } from "./cache-value.js";
import type { SubsystemHost } from "../lifecycle/operations.js";
import { CacheReport } from "./cache-report.js";
import { Computations } from "./remember.js";
import { Subsystem } from "../lifecycle/subsystem.js";

/** A script that the store runs as one atomic step. */
export interface CacheScript {
  /** @param keys without the namespace; @param args sent as text */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

/** A key with the type of its value; `cacheKey` creates one. */
export interface TypedCacheKey<T> {
  readonly name: string;
  /** Checks a value that was stored, perhaps by an older program. Throws for one that has another shape. */
  readonly check?: ((value: unknown) => T | Promise<T>) | undefined;
}

export interface CacheSetOptions {
  /** `invalidate` removes the values of a tag. At most 64, of 1 to 1024 characters. */
  readonly tags?: readonly string[];
}

export interface RememberOptions extends CacheSetOptions {
  /** The milliseconds after its time to live for which a value is still returned, while one caller computes a new one; 0 unless set. */
  readonly staleMs?: number;
  /** The behaviour when the store fails; `"throw"` unless set. With `"compute"` each process calls `make` and stores nothing. */
  readonly whenUnavailable?: "throw" | "compute";
  /** Aborts the wait of this caller. The computation continues for the others. */
  readonly signal?: AbortSignal;
}

const SET_OPTIONS: OptionNames<CacheSetOptions> = { tags: true };
const REMEMBER_OPTIONS: OptionNames<RememberOptions> = {
  tags: true,
  staleMs: true,
  whenUnavailable: true,
  signal: true,
};
const NO_OPTIONS: RememberOptions = Object.freeze({});

export abstract class Cache extends Subsystem {
  readonly kind = "cache";

  /** The prefix of every key in the store, before a colon. Instances with the same namespace share their values. */
  abstract readonly namespace: string;

  /** The driver. */
  protected abstract readonly entries: CacheEntries;

  /** @internal */
  protected readonly report = new CacheReport();
  private computations: Computations | undefined = undefined;

  /** @param clock the time of waits in this process */
  constructor(protected readonly clock: Clock = new SystemClock()) {
    super();
  }

  override prepare(host: SubsystemHost): void {
    this.report.prepare(host);
  }

  /** Prepares a script in the language of the store (Redis: Lua). @throws FrameworkError `E_CACHE_SCRIPT` if the store has none */
  abstract script(source: string): CacheScript;

  /**
   * The value under `key`, or `undefined` for a miss.
   *
   * @throws CacheUnavailableError; FrameworkError `E_CACHE_VALUE` for a stored text that is not JSON; what the check of the key throws
   */
  get<T = unknown>(key: string | TypedCacheKey<T>): Promise<T | undefined> {
    return markHandled(this.report.run("get", () => this.read(key)));
  }

  /**
   * Stores `value` for `ttlMs` milliseconds, a whole number above 0. A value is any value that JSON keeps unchanged, `null` included: no
   * `undefined` outside of an object, no `NaN`, no `Date`, `Map` or other object of a class.
   *
   * @throws CacheUnavailableError; FrameworkError `E_CACHE_VALUE`, `E_CACHE_TTL`, `E_CACHE_KEY`
   */
  set<T>(
    key: string | TypedCacheKey<T>,
    value: T,
    ttlMs: number,
    options: CacheSetOptions = NO_OPTIONS,
  ): Promise<void> {
    return markHandled(this.report.run("set", () => this.write(getName(key), value, ttlMs, options)));
  }

  /** Returns whether there was a value to delete. @throws CacheUnavailableError */
  delete(key: string | TypedCacheKey<unknown>): Promise<boolean> {
    return markHandled(this.report.run("delete", () => this.remove(getName(key))));
  }

  /**
   * Invalidates every value that was stored with one of these tags, and no value that is stored later. The result of a running computation
   * is not stored. In other processes a caller may still share a computation that started before.
   *
   * @throws CacheUnavailableError; FrameworkError `E_CACHE_KEY`
   */
  invalidate(...tags: readonly string[]): Promise<void> {
    return markHandled(this.report.run("invalidate", () => this.invalidateTags(tags)));
  }

  /**
   * The value under `key`; on a miss the result of `make`, which is stored for `ttlMs`. Only one caller runs `make` at a time, also among
   * instances that share the store; the others wait for its value, or get its error.
   *
   * @throws what `make` throws; CacheUnavailableError, unless `whenUnavailable` is `"compute"`; UnavailableError `E_CACHE_COMPUTATION` if
   * another instance has just failed to compute the value, or the `make` of another caller takes over 30 seconds; FrameworkError
   * `E_CACHE_VALUE`, `E_CACHE_TTL`, `E_CACHE_KEY`
   */
  remember<T>(
    key: string | TypedCacheKey<T>,
    ttlMs: number,
    make: () => T | Promise<T>,
    options: RememberOptions = NO_OPTIONS,
  ): Promise<T> {
    const name = getName(key);
    const fresh = this.entries.peek?.(name, options.tags);
    if (fresh !== undefined) {
      this.report.reads.hit.value += 1;
      // The application uses a key with one type, so the stored value is a result of such a `make`.
      return Promise.resolve(fresh as T);
    }
    const value = this.report.run("remember", () => this.rememberValue(name, key, ttlMs, make, options));
    return markHandled(value) as Promise<T>;
  }

  private async rememberValue(
    name: string,
    key: string | TypedCacheKey<unknown>,
    ttlMs: number,
    make: () => unknown,
    options: RememberOptions,
  ): Promise<unknown> {
    checkKey(name);
    checkOptionNames(options, REMEMBER_OPTIONS, "remember");
    const { signal } = options;
    signal?.throwIfAborted();
    const value = this.getComputations().findOrCompute({
      key: name,
      lifetime: readLifetime(ttlMs, options),
      make,
      check: typeof key === "string" ? undefined : key.check?.bind(key),
      mayBypass: options.whenUnavailable === "compute",
    });
    return signal === undefined ? value : untilAborted(value, signal);
  }

  private async read<T>(key: string | TypedCacheKey<T>): Promise<T | undefined> {
    checkKey(getName(key));
    const value = await this.entries.read(getName(key));
    this.report.reads[value === undefined ? "miss" : "hit"].value += 1;
    if (value === undefined || typeof key === "string" || key.check === undefined) return value as T | undefined;
    return key.check(value);
  }

  private async write(name: string, value: unknown, ttlMs: number, options: CacheSetOptions): Promise<void> {
    checkKey(name);
    checkOptionNames(options, SET_OPTIONS, "set");
    const lifetime = readLifetime(ttlMs, options);
    await this.entries.write(name, value, lifetime);
    this.getComputations().forget(name);
  }

  private async remove(name: string): Promise<boolean> {
    checkKey(name);
    const isDeleted = await this.entries.delete(name);
    this.getComputations().forget(name);
    return isDeleted;
  }

  private async invalidateTags(tags: readonly string[]): Promise<void> {
    checkTags(tags);
    if (tags.length === 0) return;
    await this.entries.invalidate(tags);
    this.getComputations().forgetTags(tags);
  }

  private getComputations(): Computations {
    return (this.computations ??= new Computations(this.entries, this.clock, this.report));
  }
}

/** The cache is unreachable or too slow, or it refused the command. The response is a 503 unless the application catches the error. */
export class CacheUnavailableError extends UnavailableError {
  constructor(cause: unknown, detail = "The cache is unavailable.") {
    super(detail, { code: "E_CACHE_UNAVAILABLE", cause });
  }
}

function getName(key: string | TypedCacheKey<unknown>): string {
  return typeof key === "string" ? key : key.name;
}
