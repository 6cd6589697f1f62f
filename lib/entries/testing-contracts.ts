/**
 * The entry point `@stagecraft/framework/testing/contracts`: the contracts of the ports, for a driver, a store or a layer that an
 * application writes itself. They work with every test runner, because their assertions throw Node's `AssertionError`.
 */
export type { LayerUnderTest, TrialRequest } from "../testing/contracts/layer-trial.js";
export { obeysApiTokenStore } from "../testing/contracts/identities/obeys-api-token-store.js";
export { obeysCache, type CacheContractOptions } from "../testing/contracts/obeys-cache.js";
export { obeysDatabase, type ContractDatabase, type ContractDriver } from "../testing/contracts/obeys-database.js";
export { obeysIdempotencyStore } from "../testing/contracts/obeys-idempotency-store.js";
export { obeysIdentities } from "../testing/contracts/identities/obeys-identities.js";
export { obeysSingleUseLinks } from "../testing/contracts/identities/obeys-single-use-links.js";
export { obeysLayerContract, type LayerContractOptions } from "../testing/contracts/obeys-layer-contract.js";
export { obeysMailer, type MailerContractOptions } from "../testing/contracts/obeys-mailer.js";
export { obeysQueue } from "../testing/contracts/obeys-queue.js";
export { obeysSessionStore } from "../testing/contracts/sessions/obeys-session-store.js";
export { obeysStorage } from "../testing/contracts/obeys-storage.js";
export type { MakeJobs, QueueContractOptions } from "../testing/contracts/queue-trial.js";
