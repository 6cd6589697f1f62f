/** The entry point `@stagecraft/framework/cache`: the cache in memory, and typed keys. Needs no further package. */
export { CacheKey, cacheKey } from "../cache/cache-key.js";
export { MemoryCache, type MemoryCacheOptions } from "../cache/memory-cache.js";
export {
  Cache,
  CacheUnavailableError,
  type CacheScript,
  type CacheSetOptions,
  type RememberOptions,
  type TypedCacheKey,
} from "../cache/cache.js";
export type { CacheEntries, CacheLookup, Claim } from "../cache/cache-entries.js";
export { readCacheValue, writeCacheValue, type CacheLifetime } from "../cache/cache-value.js";
