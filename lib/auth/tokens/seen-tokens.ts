/**
 * The tokens that this process has read from the store, by their hashes: a token read in the last five seconds needs no query. An entry stays
 * longer than that for the time of the last use alone. Beyond the bound the token that was read first leaves.
 */
import type { TokenIdentity } from "../guards.js";

/** A token that was read counts this time: five seconds. */
const VALID_MS = 5000;
const MAX_ENTRIES = 10_000;

export interface SeenToken {
  readonly identity: TokenIdentity;
  /** Milliseconds since the Unix epoch; `Infinity` for a token without an end. */
  readonly expiresAt: number;
  /** The last use that is stored, or that is on its way into the store; 0 for none. */
  usedAt: number;
}

interface SeenEntry {
  readonly seen: SeenToken;
  /** By the monotonic clock. */
  readonly readAt: number;
}

export class SeenTokens {
  // Not `private`: printing the object would show the hashes.
  readonly #entries = new Map<string, SeenEntry>();
  private removals = 0;

  /** @param now of the monotonic clock, as below */
  find(hash: string, now: number): SeenToken | undefined {
    const entry = this.#entries.get(hash);
    return entry !== undefined && now - entry.readAt < VALID_MS ? entry.seen : undefined;
  }

  /**
   * Reads a token and remembers it, unless a token is removed in the meantime: the row may have been read before it was deleted.
   */
  async read(hash: string, now: number, run: () => Promise<SeenToken | undefined>): Promise<SeenToken | undefined> {
    const before = this.removals;
    const seen = await run();
    if (seen === undefined || before !== this.removals) return seen;
    seen.usedAt = Math.max(seen.usedAt, this.#entries.get(hash)?.seen.usedAt ?? 0);
    // The entries are in the order in which they were read.
    this.#entries.delete(hash);
    this.#entries.set(hash, { seen, readAt: now });
    if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value ?? hash);
    return seen;
  }

  removeWhere(isRemoved: (identity: TokenIdentity) => boolean): void {
    this.removals++;
    for (const [hash, { seen }] of this.#entries) if (isRemoved(seen.identity)) this.#entries.delete(hash);
  }
}
