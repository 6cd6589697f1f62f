/** From a value to what a cache keeps, and back: JSON text within bounds. For those who write a driver. */
import { FrameworkError } from "../errors/framework-error.js";

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
