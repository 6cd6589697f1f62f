/** The entry point `@stagecraft/framework/idempotency`: idempotency keys, with a store in memory. It loads the packages of Koa. */
export { Idempotency, type IdempotencyOptions } from "../idempotency/idempotency.js";
export {
  IdempotencyStore,
  type ClaimState,
  type IdempotencyClaim,
  type IdempotentWork,
  type SettledState,
  type WorkResult,
} from "../idempotency/idempotency-store.js";
export { MemoryIdempotencyStore, type MemoryIdempotencyStoreOptions } from "../idempotency/memory-idempotency-store.js";
export type { RecordedError, RecordedReply, RecordedResponse } from "../idempotency/recorded-response.js";
export type { Principal } from "../idempotency/request-claim.js";
