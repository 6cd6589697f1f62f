/** The entry point `@stagecraft/framework/session/redis`: sessions in Redis. It needs the package `ioredis`. */
export { RedisSessionStore } from "../stages/session/stores/redis/redis-session-store.js";
