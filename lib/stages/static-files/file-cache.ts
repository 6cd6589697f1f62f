/**
 * Caches the bytes of files that are requested often, within a budget. The key is one state of a file. The caller has just compared this
 * state with the disk, so the cache itself never checks it.
 *
 * Only files that were not requested recently are evicted. So a client that requests many files cannot fill the memory: files that do not
 * fit are streamed.
 */
import type { StaticFile } from "./file.js";

/** A file may be evicted if it was not requested for this time. */
const IDLE_MS = 10_000;
/** The minimum time between two sweeps. */
const SWEEP_MS = 1000;

interface CacheEntry {
  /** `undefined` while the bytes are read from the disk. */
  bytes: Buffer | undefined;
  usedAt: number;
}

export class FileCache {
  private readonly entries = new Map<StaticFile, CacheEntry>();
  private size = 0;
  private sweptAt = -Infinity;

  /** @param budget bytes of all files together */
  constructor(private readonly budget: number) {}

  find(file: StaticFile, now: number): Buffer | undefined {
    const entry = this.entries.get(file);
    if (entry === undefined) return undefined;
    entry.usedAt = now;
    return entry.bytes;
  }

  /** Reserves space. After `true` the caller reads the file and calls `put` with its bytes, or `drop` if reading fails. */
  reserve(file: StaticFile, now: number): boolean {
    if (this.entries.has(file)) return false;
    if (this.size + file.size > this.budget) this.sweep(now);
    if (this.size + file.size > this.budget) return false;
    this.entries.set(file, { bytes: undefined, usedAt: now });
    this.size += file.size;
    return true;
  }

  /** Has no effect for a file that was dropped in the meantime. */
  put(file: StaticFile, bytes: Buffer): void {
    const entry = this.entries.get(file);
    if (entry !== undefined) entry.bytes = bytes;
  }

  drop(file: StaticFile): void {
    if (this.entries.delete(file)) this.size -= file.size;
  }

  private sweep(now: number): void {
    if (now - this.sweptAt < SWEEP_MS) return;
    this.sweptAt = now;
    for (const [file, { bytes, usedAt }] of this.entries) {
      if (bytes !== undefined && now - usedAt > IDLE_MS) this.drop(file);
    }
  }
}
