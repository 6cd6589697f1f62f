/**
 * One state of a file: its identity on the disk and its validators. The state is compared with a new `stat` for every request, so an old
 * state is never served.
 */
import type { Stats } from "node:fs";
import { toModifiedSeconds, type Validators, formatHttpDate } from "../../http/response/conditions.js";

/** The suffix in the ETag of a precompressed sibling. */
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
    this.modified = toModifiedSeconds(stats.mtimeMs);
    this.lastModified = formatHttpDate(this.modified);
  }

  /** Whether `stats` belong to the same file in the same state. */
  isSame({ size, ino, dev, mtimeMs, ctimeMs }: Stats): boolean {
    return (
      mtimeMs === this.mtimeMs &&
      ctimeMs === this.ctimeMs &&
      size === this.size &&
      ino === this.inode &&
      dev === this.device
    );
  }

  /** Whether `stats` belong to the same file, in the same or another state. */
  isSameInode({ ino, dev }: Stats): boolean {
    return ino === this.inode && dev === this.device;
  }

  /** Whether every later change also changes the times. File times advance in steps, so two changes within one step have the same time. */
  isAtRest(now: number): boolean {
    return now - Math.max(this.mtimeMs, this.ctimeMs) > REST_MS;
  }
}

/** The largest step of the file times in common file systems. */
const REST_MS = 2000;
