/**
 * The versions of a file on a disk. The modification time distinguishes them: it is in the entity tag, and in the name of the description.
 * So two successive versions must not have the same time, also if two processes write them.
 */
import type { BigIntStats } from "node:fs";
import { lstat, utimes } from "node:fs/promises";
import { StorageUnavailableError } from "../storage-errors.js";
import type { StoredFile } from "../storage-files.js";
import type { Clock } from "../../runtime/clock.js";
import { getCode, withDiskErrors, orAbsent } from "./disk.js";
import type { Description } from "./fs-description.js";

/** The code of a file or directory that another caller has removed. */
const LOST = "ENOENT";

export class VersionTimes {
  private last = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * In seconds, each time another microsecond. The clock counts milliseconds; the random part of one separates the writers of several
   * processes.
   */
  next(): number {
    this.last = Math.max(this.clock.now() + Math.random(), this.last + 0.001);
    return this.last / 1000;
  }

  /** Gives the file at `path` another time. */
  async renew(path: string): Promise<BigIntStats> {
    const time = this.next();
    await withDiskErrors(utimes(path, time, time));
    return withDiskErrors(lstat(path, { bigint: true }));
  }
}

/** The error for a content that another caller has replaced. */
export function createLostError(): StorageUnavailableError {
  return new StorageUnavailableError(Object.assign(new Error("the content was replaced"), { code: LOST }));
}

/** Whether another caller has removed or replaced the content, or removed its directory. */
export function isLost(error: unknown): boolean {
  return error instanceof StorageUnavailableError && getCode(error.cause) === LOST;
}

/** Whether the version with these statistics is still at `path`. */
export async function isUnchanged(path: string, { ino, mtimeNs }: BigIntStats): Promise<boolean> {
  const now = await orAbsent(lstat(path, { bigint: true }));
  return now?.ino === ino && now.mtimeNs === mtimeNs;
}

export function toStoredFile(key: string, stats: BigIntStats, { type, visibility, metadata }: Description): StoredFile {
  const etag = `"${stats.size.toString(16)}-${stats.mtimeNs.toString(16)}"`;
  return { key, size: Number(stats.size), type, etag, modified: stats.mtime, visibility, metadata };
}
