/**
 * A store of short-lived values that several instances of an application share. Values are JSON and expire. A failure of the store is an
 * error, never a miss. Provide a driver (`@stagecraft/framework/cache/redis`) for this class, and inject the class.
 *
 * Not for values that must not be lost, and not for values that one process can keep in a `Map`.
 *
 * @example
 * constructor(private readonly cache: Cache) {}
 * rates() { return this.cache.remember("rates", 60_000, () => this.bank.rates()); }
 */
import { valueText } from "../errors/value-text.js";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import { markHandled } from "../runtime/mark-handled.js";
import { Subsystem } from "./subsystem.js";

/** A script that the store runs as one atomic step. */
export interface CacheScript {
  /** @param keys without the namespace; @param args sent as text */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export abstract class Cache extends Subsystem {
  readonly kind = "cache";

  /** The prefix of every key in the store, before a colon. Instances with the same namespace share their values. */
  abstract readonly namespace: string;

  private readonly pending = new Map<string, Promise<unknown>>();

  /** The value under `key`, or `undefined` for a miss. @throws CacheUnavailableError */
  abstract get(key: string): Promise<unknown>;

  /**
   * Stores `value` for `ttlMs` milliseconds, a whole number above 0. A value is anything that JSON can express, `null` included, but not
   * `undefined`.
   *
   * @throws CacheUnavailableError; FrameworkError `E_CACHE_VALUE`, `E_CACHE_TTL`
   */
  abstract set(key: string, value: unknown, ttlMs: number): Promise<void>;

  /** Returns whether there was a value to delete. @throws CacheUnavailableError */
  abstract delete(key: string): Promise<boolean>;

  /** Prepares a script in the store's own language (Redis: Lua). */
  abstract script(source: string): CacheScript;

  /**
   * The value under `key`; on a miss the result of `make`, which is stored for `ttlMs`. Calls for the same key in this process share one
   * run.
   *
   * @throws what `get`, `set` and `make` throw; `make` is not called when the store fails
   */
  remember<T>(key: string, ttlMs: number, make: () => T | Promise<T>): Promise<T> {
    let value = this.pending.get(key);
    if (value === undefined) {
      value = markHandled(this.getOrMake(key, ttlMs, make).finally(() => this.pending.delete(key)));
      this.pending.set(key, value);
    }
    // The application calls `remember` with one `make` for a key, so the stored value is a result of that `make`.
    return value as Promise<T>;
  }

  private async getOrMake(key: string, ttlMs: number, make: () => unknown): Promise<unknown> {
    const stored = await this.get(key);
    if (stored !== undefined) return stored;
    const made = await make();
    await this.set(key, made, ttlMs);
    return made;
  }
}

/** The cache is unreachable, too slow, or refused the command. Answered with 503 where the application does not catch it. */
export class CacheUnavailableError extends UnavailableError {
  constructor(cause: unknown, detail = "The cache is unavailable.") {
    super(detail, { code: "E_CACHE_UNAVAILABLE", cause });
  }
}

/** 64 MiB of text, in UTF-16 code units. */
export const MAX_CACHE_VALUE_LENGTH = 67_108_864;

/**
 * For drivers: a value as JSON text.
 *
 * @throws FrameworkError `E_CACHE_VALUE` for a value that JSON cannot express, and for more than 64 MiB of JSON
 */
export function writeCacheValue(key: string, value: unknown): string {
  const text = stringify(key, value);
  if (text === undefined) {
    throw invalidValue(key, `JSON has no ${typeof value}; store null instead of an absent value`);
  }
  if (text.length > MAX_CACHE_VALUE_LENGTH) {
    throw invalidValue(key, `its JSON is longer than ${MAX_CACHE_VALUE_LENGTH} characters`);
  }
  return text;
}

/**
 * For drivers: the value of stored JSON text.
 *
 * @throws FrameworkError `E_CACHE_VALUE` where the text is not JSON, because another program has written it
 */
export function readCacheValue(key: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FrameworkError(
      `the cached text under ${JSON.stringify(key)} is not JSON; another program with the same namespace may have written it`,
      { code: "E_CACHE_VALUE" },
    );
  }
}

/** For drivers. @throws FrameworkError `E_CACHE_TTL` unless it is a whole number of milliseconds above 0 */
export function expectTtl(ttlMs: number): void {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0) return;
  throw new FrameworkError(`ttlMs must be a whole number of milliseconds above 0, not ${valueText(ttlMs)}`, {
    code: "E_CACHE_TTL",
  });
}

function stringify(key: string, value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw invalidValue(key, "JSON.stringify failed", cause);
  }
}

function invalidValue(key: string, reason: string, cause?: unknown): FrameworkError {
  return new FrameworkError(`the value for ${JSON.stringify(key)} cannot be cached: ${reason}`, {
    code: "E_CACHE_VALUE",
    cause,
  });
}
