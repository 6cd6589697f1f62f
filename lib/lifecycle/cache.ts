/**
 * A shared store of short-lived values, for several instances of an application at once. Values are JSON and expire; an error of the
 * store is an error, never a miss. Provide a driver (`@stagecraft/framework/cache/redis`) for this class, and inject the class.
 *
 * Not for what must not be lost, and not for what one process could keep in a `Map`.
 *
 * @example
 * constructor(private readonly cache: Cache) {}
 * rates() { return this.cache.remember("rates", 60_000, () => this.bank.rates()); }
 */
import { markHandled } from "../runtime/mark-handled.js";
import { Subsystem } from "./subsystem.js";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";

/** A script that the store runs as one step, which nothing else comes between. */
export interface CacheScript {
  /** @param keys as they are, below the namespace; @param args handed over as text */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export abstract class Cache extends Subsystem {
  readonly kind = "cache";

  /** What every key in the store begins with, before a colon: instances that agree on it share what they keep. */
  abstract readonly namespace: string;

  private readonly making = new Map<string, Promise<unknown>>();

  /** The value under `key`, or `undefined` where there is none. @throws CacheUnavailableError */
  abstract get(key: string): Promise<unknown>;

  /**
   * Keeps `value` for `ttlMs` milliseconds, a whole number above 0. Anything that JSON can say is a value, `null` too, but not
   * `undefined`.
   *
   * @throws CacheUnavailableError; FrameworkError `E_CACHE_VALUE`, `E_CACHE_TTL`
   */
  abstract set(key: string, value: unknown, ttlMs: number): Promise<void>;

  /** Whether there was something to delete. @throws CacheUnavailableError */
  abstract delete(key: string): Promise<boolean>;

  /** Prepares a script in the store's own language (Redis: Lua). */
  abstract script(source: string): CacheScript;

  /**
   * The value under `key`; where there is none, what `make` makes, kept for `ttlMs`. Whoever asks for the same key in this process
   * meanwhile waits for the same value.
   *
   * @throws what `get`, `set` and `make` throw: a store that fails does not set `make` off
   */
  remember<T>(key: string, ttlMs: number, make: () => T | Promise<T>): Promise<T> {
    let value = this.making.get(key);
    if (value === undefined) {
      value = markHandled(this.getOrMake(key, ttlMs, make).finally(() => this.making.delete(key)));
      this.making.set(key, value);
    }
    // What is kept under a key that is remembered was made by the `make` of that key, and read back from JSON.
    return value as Promise<T>;
  }

  private async getOrMake(key: string, ttlMs: number, make: () => unknown): Promise<unknown> {
    const kept = await this.get(key);
    if (kept !== undefined) return kept;
    const made = await make();
    await this.set(key, made, ttlMs);
    return made;
  }
}

// From a value to what a cache keeps, and back: JSON text within bounds. For those who write a driver.

/** 64 MiB of text, in UTF-16 code units. */
export const LARGEST_CACHE_VALUE = 67_108_864;

/** @throws FrameworkError `E_CACHE_VALUE` for what JSON cannot say, and for more than 64 MiB of it */
export function writeCacheValue(key: string, value: unknown): string {
  const text = stringify(key, value);
  if (text === undefined) throw refuse(key, `a ${typeof value} is no JSON; keep null where there is nothing`);
  if (text.length > LARGEST_CACHE_VALUE) throw refuse(key, `its JSON is longer than ${LARGEST_CACHE_VALUE} characters`);
  return text;
}

/** @throws FrameworkError `E_CACHE_VALUE` where someone else has written something that is not JSON */
export function readCacheValue(key: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FrameworkError(`what the cache holds under ${JSON.stringify(key)} is not JSON`, {
      code: "E_CACHE_VALUE",
    });
  }
}

/** @throws FrameworkError `E_CACHE_TTL` unless it is a whole number of milliseconds above 0 */
export function expectTtl(ttlMs: number): void {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0) return;
  throw new FrameworkError(`a cached value lives for a whole number of milliseconds above 0, not ${String(ttlMs)}`, {
    code: "E_CACHE_TTL",
  });
}

function stringify(key: string, value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw refuse(key, "JSON cannot say it", cause);
  }
}

function refuse(key: string, why: string, cause?: unknown): FrameworkError {
  return new FrameworkError(`the value for ${JSON.stringify(key)} cannot be cached: ${why}`, {
    code: "E_CACHE_VALUE",
    cause,
  });
}

/** The cache did not do what it was asked to: it is gone, too slow, or it refused. Never a miss; 503 where nobody catches it. */
export class CacheUnavailableError extends UnavailableError {
  constructor(cause: unknown, detail = "The cache is unavailable.") {
    super(detail, { code: "E_CACHE_UNAVAILABLE", cause });
  }
}
