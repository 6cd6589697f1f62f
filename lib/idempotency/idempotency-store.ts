/**
 * The port of a store of idempotency keys. A store runs the work of a key at most once at a time, and stores its result. It sees hashes
 * alone, and no key, caller or body.
 *
 * `DatabaseIdempotencyStore` stores key, effect and response in one transaction. The stores in memory and in Redis cannot: they promise that
 * the work runs at most once, and a key whose outcome they do not know stays unknown until it expires.
 */
import type { Subsystem } from "../lifecycle/subsystem.js";
import type { Clock } from "../runtime/clock.js";
import type { RecordedResponse } from "./recorded-response.js";

/** How long a request waits for another one with its key, in milliseconds. */
export const MAX_WAIT_MS = 2000;

/** One request with a key. */
export interface IdempotencyClaim {
  /** SHA-256 of caller, method, path and key, in hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the request, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly ttlMs: number;
  readonly clock: Clock;
}

/**
 * The result of the work:
 * - `"done"`: store the response. `undefined` for one that cannot be stored.
 * - `"refused"`: the handler threw an error below 500. Store it, and roll the effects back where the store can.
 * - `"released"`: nothing was done, and the client may send the request again (425, 429). The key is free.
 * - `"failed"`: the handler responded with 5xx. The key is free where the store can roll the effects back, else the outcome is unknown.
 */
export interface WorkResult {
  readonly outcome: "done" | "refused" | "released" | "failed";
  readonly response: RecordedResponse | undefined;
}

/** A rejection means `"failed"`. */
export type IdempotentWork = () => Promise<WorkResult>;

/**
 * The state of the key:
 * - `"ran"`: this call has run the work.
 * - `"recorded"`: an earlier call has; `response` is `undefined` where it could not be stored.
 * - `"running"`: another call runs it, and did not end in time.
 * - `"unknown"`: an earlier call ran it or a part of it, and the store does not know the outcome.
 */
export type ClaimState = { readonly kind: "ran" } | { readonly kind: "running" } | SettledState;

/** `fingerprint` is that of the request that ran. */
export type SettledState =
  | { readonly kind: "unknown"; readonly fingerprint: string }
  | { readonly kind: "recorded"; readonly fingerprint: string; readonly response: RecordedResponse | undefined };

export const RAN: ClaimState = { kind: "ran" };
export const RUNNING: ClaimState = { kind: "running" };

export abstract class IdempotencyStore {
  /** The subsystems that the store needs. `run()` starts them, also if no module provides them. */
  get subsystems(): readonly Subsystem[] {
    return [];
  }

  /** Runs `work` unless the key is in use. Rejects with the error of `work`, or with that of the store. */
  abstract run(claim: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState>;
}
