/**
 * The port of the drivers of a cache: a driver keeps entries, and decides which caller computes a missing one. `Cache` builds `remember` on
 * it.
 *
 * A claim is the right to compute the value of a key. It has a random token and a lease. The end of the lease, a deletion or a write of the
 * key, and an invalidation of a tag all end the claim. A value that is completed afterwards is not stored, because it may be older than
 * that change.
 */
import type { CacheLifetime } from "./cache-value.js";

/** The lease of a claim, in milliseconds. The claimant renews it at a third. */
export const CLAIM_LEASE_MS = 6000;

export interface Claim {
  readonly key: string;
  /** Random, and different for each computation. */
  readonly token: string;
}

/** The entry of a key, as a caller of `remember` finds it. */
export type CacheLookup =
  | { readonly state: "fresh"; readonly value: unknown }
  /** The value is past its time to live. The caller that has the claim computes a new one. */
  | { readonly state: "stale"; readonly value: unknown; readonly isClaimed: boolean }
  /** There is no value, and the caller has the claim. */
  | { readonly state: "claimed" }
  /** There is no value, and another caller has the claim. */
  | { readonly state: "claimed-elsewhere" }
  /** A computation failed a moment ago. */
  | { readonly state: "failed" };

/** Every method may be synchronous, and fails with a `CacheUnavailableError` if the store fails. Values are JSON values, frozen. */
export interface CacheEntries {
  /** Returns a fresh value that has all these tags without waiting, or `undefined`. Only for stores in the memory of the process. */
  peek?(key: string, tags: readonly string[] | undefined): unknown;
  /** The value, fresh or stale; `undefined` for a miss. */
  read(key: string): unknown;
  /** Stores a value and ends the claim on its key. */
  write(key: string, value: unknown, lifetime: CacheLifetime): unknown;
  /** Deletes the value and ends the claim. Returns whether there was a value. */
  delete(key: string): boolean | Promise<boolean>;
  /** Invalidates every value that has one of the tags, and ends every claim with one of them. */
  invalidate(tags: readonly string[]): unknown;
  /**
   * Reads the entry, and adds the tags of the caller to it. If it is missing or stale, and neither claimed nor failed, the caller gets the
   * claim. An entry that would have more than 64 tags counts as missing.
   */
  readOrClaim(claim: Claim, lifetime: CacheLifetime): CacheLookup | Promise<CacheLookup>;
  /**
   * Stores the value of a claim, unless the claim has ended, and keeps the tags of the entry that it replaces. Returns the value as it
   * would be read.
   */
  complete(claim: Claim, value: unknown, lifetime: CacheLifetime): unknown;
  /** Ends the claim. For `failureMs` milliseconds callers find the state `failed`. */
  fail(claim: Claim, failureMs: number): unknown;
  /** Extends the lease of the claim. */
  renew(claim: Claim): unknown;
}
