/**
 * The calls of the file system for the storage on a disk: errors without paths, and the directory of a key without a symbolic link on the
 * way. Not for the files of a front end: `lib/stages/static-files` reads those.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { FrameworkError } from "../../errors/framework-error.js";
import { driverFault, keyInTheWay, StorageFullError, StorageUnavailableError } from "../storage-errors.js";

/** A link as the last part of a path is not followed. Windows has no such flag. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** Without `O_NONBLOCK`, opening a pipe waits for a writer. */
const READ = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

const ABSENT: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO"]);
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const IN_THE_WAY: ReadonlySet<unknown> = new Set(["ENOTDIR", "EISDIR", "ENOTEMPTY", "EEXIST"]);

export const getCode = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

export const isAbsent = (error: unknown): boolean => ABSENT.has(getCode(error));

/**
 * Replaces the error of a call of the file system. @throws StorageFullError; ConflictError; StorageUnavailableError: none of them holds the
 * path
 */
export async function withDiskErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toDiskError(error);
  }
}

export function toDiskError(error: unknown): FrameworkError {
  if (error instanceof FrameworkError) return error;
  const code = getCode(error);
  if (FULL.has(code)) return new StorageFullError(driverFault(error));
  if (IN_THE_WAY.has(code)) return keyInTheWay();
  return new StorageUnavailableError(driverFault(error));
}

/** `undefined` if the file is missing. */
export function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw toDiskError(error);
  });
}

/** The file for reading; `undefined` if there is none, or if it is not a regular file. */
export async function openRegular(path: string): Promise<FileHandle | undefined> {
  const handle = await orAbsent(open(path, READ));
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw toDiskError(error);
  }
  await handle.close();
  return undefined;
}

/** A new file for writing. */
export function createFile(path: string): Promise<FileHandle> {
  return open(path, CREATE, 0o666);
}

/** True if the directory exists and the way to it from `root` has no symbolic link. `root` is a real path. */
export async function isPlainDirectory(root: string, segments: readonly string[]): Promise<boolean> {
  const expected = join(root, ...segments);
  return (await orAbsent(realpath(expected))) === expected;
}

/** Creates the directories below `root`. @throws ConflictError if a file or a link is in the way */
export async function makeDirectories(root: string, segments: readonly string[]): Promise<void> {
  let path = root;
  for (const segment of segments) {
    path = join(path, segment);
    try {
      await mkdir(path);
    } catch (error) {
      if (getCode(error) !== "EEXIST") throw toDiskError(error);
      if (!(await withDiskErrors(lstat(path))).isDirectory()) throw keyInTheWay();
    }
  }
}

/** Removes an empty directory in the place of a file. @throws ConflictError if the directory holds other files */
export async function removeEmptyDirectory(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory() !== true) return;
  await rmdir(path).catch(() => {
    throw keyInTheWay();
  });
}

/** Removes the directories of a deleted file that are empty now, from the inside. */
export async function removeEmpty(root: string, segments: readonly string[]): Promise<void> {
  for (let depth = segments.length; depth > 0; depth--) {
    try {
      await rmdir(join(root, ...segments.slice(0, depth)));
    } catch {
      return;
    }
  }
}

/** Makes the names in a directory durable. Windows cannot open directories. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  // Another caller may have deleted the file, and with it the directory.
  const handle = await orAbsent(open(path, constants.O_RDONLY));
  try {
    if (handle !== undefined) await withDiskErrors(handle.sync());
  } finally {
    await handle?.close();
  }
}
