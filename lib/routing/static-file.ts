/**
 * What is known of one file: what identifies it, its validators, and, where it is small, its bytes. A record is as good as the
 * `stat` that it is compared with, which is made for every request; nothing is served on trust.
 */
import type { Stats } from "node:fs";
import type { Validators } from "./static-conditions.js";
import { writeHttpDate } from "./static-date.js";

/** The suffix of a precompressed sibling's ETag. */
export type Suffix = "" | "-br" | "-gz";

export class StaticFile implements Validators {
  readonly size: number;
  readonly mtimeMs: number;
  readonly etag: string;
  readonly modified: number;
  readonly lastModified: string;
  private readonly inode: number;
  private readonly device: number;
  private readonly ctimeMs: number;

  constructor(
    stats: Stats,
    readonly suffix: Suffix,
  ) {
    this.size = stats.size;
    this.inode = stats.ino;
    this.device = stats.dev;
    this.mtimeMs = stats.mtimeMs;
    this.ctimeMs = stats.ctimeMs;
    this.etag = `W/"${stats.size.toString(16)}-${Math.floor(stats.mtimeMs).toString(16)}${suffix}"`;
    this.modified = Math.floor(stats.mtimeMs / 1000);
    this.lastModified = writeHttpDate(this.modified);
  }

  /** Whether `stats` are of the same file in the same state. */
  isSame({ size, ino, dev, mtimeMs, ctimeMs }: Stats): boolean {
    return (
      mtimeMs === this.mtimeMs &&
      ctimeMs === this.ctimeMs &&
      size === this.size &&
      ino === this.inode &&
      dev === this.device
    );
  }

  /** Whether `stats` are of the same file, in whatever state: where a path leads is known of it. */
  isNode({ ino, dev }: Stats): boolean {
    return ino === this.inode && dev === this.device;
  }

  /**
   * Whether a change from now on is sure to show in the times: they advance in steps, so of a file that was changed just now a
   * second change may leave no trace.
   */
  isAtRest(now: number): boolean {
    return now - Math.max(this.mtimeMs, this.ctimeMs) > REST_MS;
  }
}

/** The coarsest step that file systems in use have. */
const REST_MS = 2000;
