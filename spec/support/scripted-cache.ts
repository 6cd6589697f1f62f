/** A cache without values. Its scripts return the result that the spec sets, and it records the calls of its lifecycle. */
import { Cache, type CacheScript } from "../../lib/cache/cache.js";
import type { CacheEntries, CacheLookup, Claim } from "../../lib/cache/cache-entries.js";

class NoEntries implements CacheEntries {
  read(): void {}
  write(): void {}
  delete(): boolean {
    return false;
  }
  invalidate(): void {}
  readOrClaim(): CacheLookup {
    return { state: "claimed" };
  }
  complete(_claim: Claim, value: unknown): unknown {
    return value;
  }
  fail(): void {}
  renew(): void {}
}

export class ScriptedCache extends Cache {
  readonly namespace = "spec";
  protected readonly entries = new NoEntries();
  readonly seen: string[] = [];

  /** @param result the result of every script; the default admits a request of a rate limit */
  constructor(private readonly result: () => Promise<unknown> = async () => [1, 9, 0, 0]) {
    super();
  }

  override start(): void {
    this.seen.push("start");
  }

  override probe(): void {
    this.seen.push("probe");
  }

  override stop(): void {
    this.seen.push("stop");
  }

  override script(): CacheScript {
    return { run: () => this.result() };
  }
}
