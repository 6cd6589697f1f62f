/**
 * The bytes of files that are asked for again and again, within a budget. Says nothing about whether they are still right: they
 * belong to one state of one file, and whoever asks has just seen the file in that state.
 *
 * Room is made only from what nobody has asked for lately. A client that goes through many files can therefore not have them all
 * read into memory; those that do not fit are streamed.
 */
import type { StaticFile } from "./static-file.js";

const IDLE_MS = 10_000;
const SWEEP_MS = 1000;

interface Kept {
  /** `undefined` while someone is reading them. */
  bytes: Buffer | undefined;
  usedAt: number;
}

export class KeptBytes {
  private readonly kept = new Map<StaticFile, Kept>();
  private size = 0;
  private sweptAt = -Infinity;

  /** @param budget bytes in all */
  constructor(private readonly budget: number) {}

  find(file: StaticFile, now: number): Buffer | undefined {
    const kept = this.kept.get(file);
    if (kept === undefined) return undefined;
    kept.usedAt = now;
    return kept.bytes;
  }

  /** Whether the caller is to read the file and `put` its bytes, or `drop` it. */
  reserve(file: StaticFile, now: number): boolean {
    if (this.kept.has(file)) return false;
    if (this.size + file.size > this.budget) this.sweep(now);
    if (this.size + file.size > this.budget) return false;
    this.kept.set(file, { bytes: undefined, usedAt: now });
    this.size += file.size;
    return true;
  }

  /** Does nothing for a file that was dropped in the meantime. */
  put(file: StaticFile, bytes: Buffer): void {
    const kept = this.kept.get(file);
    if (kept !== undefined) kept.bytes = bytes;
  }

  drop(file: StaticFile): void {
    if (this.kept.delete(file)) this.size -= file.size;
  }

  private sweep(now: number): void {
    if (now - this.sweptAt < SWEEP_MS) return;
    this.sweptAt = now;
    for (const [file, { bytes, usedAt }] of this.kept) {
      if (bytes !== undefined && now - usedAt > IDLE_MS) this.drop(file);
    }
  }
}
