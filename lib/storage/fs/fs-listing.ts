/**
 * The walks over the directories of a storage on a disk: the keys in their order, and the temporary files of killed processes.
 *
 * A listing reads the names of one directory at a time for each level, so a directory of a million files costs memory. Keys with a date or
 * a part of a hash in front keep directories small.
 */
import type { Dirent } from "node:fs";
import { lstat, opendir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { compareKeys } from "../storage-files.js";
import { checkStorageKey, RESERVED_START } from "../storage-key.js";
import { isPlainDirectory, withDiskErrors, orAbsent } from "./disk.js";
import { descriptionName, isDescription } from "./fs-description.js";

/** The keys with the prefix that come after `cursor`, in order. */
export async function* listKeys(root: string, prefix: string, cursor: string | undefined): AsyncIterable<string> {
  const folder = prefix.split("/").slice(0, -1);
  if (!(await isPlainDirectory(root, folder))) return;
  yield* listFolderKeys(root, folder.map((each) => `${each}/`).join(""), { prefix, cursor: cursor ?? "" });
}

interface KeyFilter {
  readonly prefix: string;
  readonly cursor: string;
}

/** @param folder below the root, with a slash at its end; `""` for the root */
async function* listFolderKeys(root: string, folder: string, filter: KeyFilter): AsyncIterable<string> {
  const entries = await orAbsent(readdir(join(root, folder), { withFileTypes: true }));
  const keys = (entries ?? []).flatMap((entry) => findKey(folder, entry) ?? []).toSorted(compareKeys);
  for (const key of keys) {
    if (!key.endsWith("/")) {
      if (key.startsWith(filter.prefix) && isAfter(key, filter.cursor)) yield key;
    } else if (mayContain(key, filter)) yield* listFolderKeys(root, key, filter);
  }
}

/** The key of a file; that of a directory with a slash at its end. Other entries, links among them, have none. */
function findKey(folder: string, entry: Dirent): string | undefined {
  const key = folder + entry.name;
  if (!entry.isFile() && !entry.isDirectory()) return undefined;
  try {
    checkStorageKey(key);
  } catch {
    return undefined;
  }
  return entry.isDirectory() ? `${key}/` : key;
}

function mayContain(folder: string, { prefix, cursor }: KeyFilter): boolean {
  if (!folder.startsWith(prefix) && !prefix.startsWith(folder)) return false;
  return cursor.startsWith(folder) || isAfter(folder, cursor);
}

function isAfter(key: string, cursor: string): boolean {
  return compareKeys(key, cursor) > 0;
}

/**
 * Removes the temporary files and the descriptions without content that were last written before `before`, in milliseconds since the Unix
 * epoch. Younger ones may belong to a process that is at work. Returns the number of removed files.
 */
export async function sweep(root: string, before: number, signal: AbortSignal): Promise<number> {
  let count = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined && !signal.aborted; folder = waiting.pop()) {
    const { reserved, folders } = await readEntries(folder);
    waiting.push(...folders);
    for (const name of await findUnneeded(folder, reserved)) {
      const path = join(folder, name);
      const stats = await orAbsent(lstat(path));
      if (stats === undefined || stats.mtimeMs >= before) continue;
      await withDiskErrors(rm(path, { force: true }));
      count += 1;
    }
  }
  return count;
}

async function readEntries(
  folder: string,
): Promise<{ readonly reserved: readonly string[]; readonly folders: readonly string[] }> {
  const reserved: string[] = [];
  const folders: string[] = [];
  const entries = await orAbsent(opendir(folder));
  if (entries === undefined) return { reserved, folders };
  for await (const entry of entries) {
    if (entry.isDirectory()) folders.push(join(folder, entry.name));
    else if (entry.name.startsWith(RESERVED_START)) reserved.push(entry.name);
  }
  return { reserved, folders };
}

/** The internal files of the driver that no content needs. */
async function findUnneeded(folder: string, reserved: readonly string[]): Promise<readonly string[]> {
  if (!reserved.some(isDescription)) return reserved;
  const needed = new Set<string>();
  for await (const entry of await withDiskErrors(opendir(folder))) {
    if (!entry.isFile() || entry.name.startsWith(RESERVED_START)) continue;
    const stats = await orAbsent(lstat(join(folder, entry.name), { bigint: true }));
    if (stats !== undefined) needed.add(descriptionName(entry.name, stats.mtimeNs));
  }
  return reserved.filter((name) => !needed.has(name));
}
