/**
 * The entry point `@stagecraft/framework/cache/redis`: the shared cache over Redis. Needs the package `ioredis`; importing it where that
 * is missing throws `E_PEER_MISSING` with what to install.
 */
export { RedisCache } from "../redis/redis-cache.js";
export type { RedisCacheOptions } from "../redis/redis-cache.js";
