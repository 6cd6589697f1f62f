/**
 * The `Cache` in the memory of the process. It is bounded in entries and in bytes: the least recently used value is removed first. In tests
 * it replaces a shared cache, with the clock of the test.
 *
 * Not for values that several instances must share: each process has separate values.
 *
 * @example
 * provide(Cache).useFactory((resolve) => new MemoryCache({ maxBytes: 16_777_216, clock: resolve(Clock) }));
 */
import { FrameworkError } from "../errors/framework-error.js";
import { checkWholeNumber } from "../errors/whole-number.js";
import { Cache, type CacheScript } from "./cache.js";
import type { CacheEntries, CacheLookup, Claim } from "./cache-entries.js";
import { type CacheLifetime, MAX_CACHE_TAGS, readCacheValue, writeCacheValue } from "./cache-value.js";
import { CACHE_BYTES, CACHE_ENTRIES } from "./cache-report.js";
import type { SubsystemHost } from "../lifecycle/operations.js";
import { type Clock, SystemClock } from "../runtime/clock.js";

export interface MemoryCacheOptions {
  /** The most values; 10 000 unless set. */
  readonly maxEntries?: number;
  /**
   * The most bytes of keys, values and tags together, by the UTF-8 of their JSON, and 256 for each entry; 67 108 864 (64 MiB) unless set.
   */
  readonly maxBytes?: number;
  /** The name in health checks and events; `MemoryCache` unless set. */
  readonly name?: string;
  /** The machine's clock unless set. */
  readonly clock?: Clock;
}

const DEFAULT_ENTRIES = 10_000;
const DEFAULT_BYTES = 67_108_864;
/** The approximate cost of an entry beside its key, its value and its tags. */
const ENTRY_BYTES = 256;

export class MemoryCache extends Cache {
  override readonly name: string;
  readonly namespace = "memory";
  protected readonly entries: MemoryEntries;

  /** @throws FrameworkError `E_CACHE_LIMIT` for a limit that is not a whole number above 0 */
  constructor(options: MemoryCacheOptions = {}) {
    const clock = options.clock ?? new SystemClock();
    super(clock);
    this.name = options.name ?? "MemoryCache";
    this.entries = new MemoryEntries(
      clock,
      checkWholeNumber("E_CACHE_LIMIT", "maxEntries of a cache", options.maxEntries ?? DEFAULT_ENTRIES, [1]),
      checkWholeNumber("E_CACHE_LIMIT", "maxBytes of a cache", options.maxBytes ?? DEFAULT_BYTES, [1]),
    );
  }

  /** The number of values and their bytes, expired ones included. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return this.entries.size;
  }

  override prepare(host: SubsystemHost): void {
    super.prepare(host);
    const { name: subsystem, metrics } = host;
    metrics.describeGauge(CACHE_ENTRIES, "Values of a cache in memory.");
    metrics.describeGauge(CACHE_BYTES, "Bytes of the values of a cache in memory, with their keys and tags.");
    this.entries.setGauges(metrics.gauge(CACHE_ENTRIES, { subsystem }), metrics.gauge(CACHE_BYTES, { subsystem }));
  }

  override start(): void {}

  override stop(): void {
    this.entries.clear();
  }

  override script(): CacheScript {
    throw new FrameworkError(
      "a cache in memory runs no scripts: use a RedisCache here, or leave the shared cache out",
      {
        code: "E_CACHE_SCRIPT",
      },
    );
  }
}

interface StoredValue {
  readonly value: unknown;
  readonly bytes: number;
  readonly freshUntil: number;
  readonly staleUntil: number;
  readonly tags: readonly string[];
}

/** A series of a gauge. */
interface Gauge {
  value: number;
}

interface OpenClaim {
  readonly token: string;
  readonly tags: readonly string[];
}

class MemoryEntries implements CacheEntries {
  /** In the order of use: the least recently used entry is the first. */
  private readonly values = new Map<string, StoredValue>();
  private readonly keysByTag = new Map<string, Set<string>>();
  private readonly claims = new Map<string, OpenClaim>();
  /** Keys with a stale value whose computation failed a moment ago. */
  private readonly failed = new Set<string>();
  private bytes = 0;
  private entriesGauge: Gauge = { value: 0 };
  private bytesGauge: Gauge = { value: 0 };

  constructor(
    private readonly clock: Clock,
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.values.size, bytes: this.bytes };
  }

  /** Sets the gauges that show the size. */
  setGauges(entries: Gauge, bytes: Gauge): void {
    [this.entriesGauge, this.bytesGauge] = [entries, bytes];
    this.updateSize(0);
  }

  peek(key: string, tags: readonly string[] | undefined): unknown {
    const entry = this.values.get(key);
    if (entry === undefined || this.clock.monotonic() >= entry.freshUntil) return undefined;
    if (tags !== undefined && !hasTags(entry, tags)) return undefined;
    this.touch(key, entry);
    return entry.value;
  }

  read(key: string): unknown {
    return this.findLiving(key)?.value;
  }

  write(key: string, value: unknown, lifetime: CacheLifetime): void {
    this.claims.delete(key);
    this.store(key, value, lifetime);
  }

  delete(key: string): boolean {
    this.claims.delete(key);
    const isLiving = this.findLiving(key) !== undefined;
    this.drop(key);
    return isLiving;
  }

  invalidate(tags: readonly string[]): void {
    for (const tag of tags) for (const key of this.keysByTag.get(tag) ?? []) this.drop(key);
    for (const [key, claim] of this.claims) if (claim.tags.some((tag) => tags.includes(tag))) this.claims.delete(key);
  }

  readOrClaim({ key, token }: Claim, { tags }: CacheLifetime): CacheLookup {
    const entry = this.findTagged(key, tags);
    if (entry !== undefined && this.clock.monotonic() < entry.freshUntil) return { state: "fresh", value: entry.value };
    const isClaimed = !this.claims.has(key) && !(entry !== undefined && this.failed.has(key));
    if (isClaimed) this.claims.set(key, { token, tags });
    if (entry !== undefined) return { state: "stale", value: entry.value, isClaimed };
    return { state: isClaimed ? "claimed" : "claimed-elsewhere" };
  }

  complete({ key, token }: Claim, value: unknown, lifetime: CacheLifetime): unknown {
    if (this.claims.get(key)?.token !== token) return readCacheValue(key, writeCacheValue(key, value));
    const tags = union(lifetime.tags, this.findLiving(key)?.tags).slice(0, MAX_CACHE_TAGS);
    const stored = this.store(key, value, { ...lifetime, tags });
    this.claims.delete(key);
    return stored;
  }

  /** Callers without a stale value share the error. Only callers with a stale value would call a failing source each time. */
  fail({ key, token }: Claim, failureMs: number): void {
    if (this.claims.get(key)?.token !== token) return;
    this.claims.delete(key);
    if (this.findLiving(key) === undefined) return;
    this.failed.add(key);
    this.clock.setTimeout(() => this.failed.delete(key), failureMs, { background: true });
  }

  /** A claim needs no lease here: if its claimant dies, the cache dies with it. */
  renew(): void {}

  clear(): void {
    this.values.clear();
    this.keysByTag.clear();
    this.claims.clear();
    this.updateSize(-this.bytes);
  }

  private findLiving(key: string): StoredValue | undefined {
    const entry = this.values.get(key);
    if (entry === undefined) return undefined;
    if (this.clock.monotonic() < entry.staleUntil) {
      this.touch(key, entry);
      return entry;
    }
    this.drop(key);
    return undefined;
  }

  /** The entry, to which these tags are added; `undefined` if it would have too many tags. */
  private findTagged(key: string, more: readonly string[]): StoredValue | undefined {
    const entry = this.findLiving(key);
    if (entry === undefined || hasTags(entry, more)) return entry;
    const tags = union(entry.tags, more);
    if (tags.length > MAX_CACHE_TAGS) return undefined;
    const added = tags.slice(entry.tags.length);
    const bytes = added.reduce((sum, tag) => sum + Buffer.byteLength(tag), 0);
    const extended = { ...entry, bytes: entry.bytes + bytes, tags };
    this.values.set(key, extended);
    this.updateSize(bytes);
    for (const tag of added) this.getOrCreateKeys(tag).add(key);
    return extended;
  }

  private touch(key: string, entry: StoredValue): void {
    this.values.delete(key);
    this.values.set(key, entry);
  }

  private store(key: string, given: unknown, { ttlMs, staleMs, tags }: CacheLifetime): unknown {
    const text = writeCacheValue(key, given);
    const value = readCacheValue(key, text);
    const bytes = [text, key, ...tags].reduce((sum, each) => sum + Buffer.byteLength(each), ENTRY_BYTES);
    this.drop(key);
    // A value above the limit would remove all others, and then itself.
    if (bytes > this.maxBytes) return value;
    const freshUntil = this.clock.monotonic() + ttlMs;
    this.values.set(key, { value, bytes, freshUntil, staleUntil: freshUntil + staleMs, tags });
    this.updateSize(bytes);
    for (const tag of tags) this.getOrCreateKeys(tag).add(key);
    for (const oldest of this.values.keys()) {
      if (this.values.size <= this.maxEntries && this.bytes <= this.maxBytes) break;
      this.drop(oldest);
    }
    return value;
  }

  private updateSize(by: number): void {
    this.bytes += by;
    this.bytesGauge.value = this.bytes;
    this.entriesGauge.value = this.values.size;
  }

  private getOrCreateKeys(tag: string): Set<string> {
    let keys = this.keysByTag.get(tag);
    if (keys === undefined) this.keysByTag.set(tag, (keys = new Set()));
    return keys;
  }

  private drop(key: string): void {
    const entry = this.values.get(key);
    if (entry === undefined) return;
    this.values.delete(key);
    this.updateSize(-entry.bytes);
    for (const tag of entry.tags) {
      const keys = this.keysByTag.get(tag);
      keys?.delete(key);
      if (keys?.size === 0) this.keysByTag.delete(tag);
    }
  }
}

function union(tags: readonly string[], more: readonly string[] = []): readonly string[] {
  return [...new Set([...tags, ...more])];
}

function hasTags(entry: StoredValue, tags: readonly string[]): boolean {
  return tags.every((tag) => entry.tags.includes(tag));
}
