/** The entry point `@stagecraft/framework/idempotency/redis`: idempotency keys in Redis. It needs the package `ioredis`. */
export {
  RedisIdempotencyStore,
  type RedisIdempotencyStoreOptions,
} from "../idempotency/redis/redis-idempotency-store.js";
