/**
 * The entry point `@stagecraft/framework/cache/redis`: the shared cache over Redis. Needs the package `ioredis`. If it is missing, the
 * import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { RedisCache, type RedisCacheOptions } from "../cache/redis/redis-cache.js";
