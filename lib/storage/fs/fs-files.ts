/**
 * The files of a storage below a directory of the disk: the key is the path. A new content is written under a temporary name in the same
 * directory, flushed, and renamed, so that a reader sees a whole file and a crash leaves the old one. Symbolic links below the root are not
 * followed, neither for reading nor for writing.
 */
import { type FileHandle, lstat, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { withoutUrls } from "../storage-errors.js";
import {
  type OpenedFile,
  resolveRange,
  type SignedDownload,
  type SignedUpload,
  type SignedUploadTerms,
  type StorageContent,
  type StorageFiles,
  type StorageListing,
  type StorageRange,
  type StorageVisibility,
  type StoredFile,
} from "../storage-files.js";
import type { StorageUrls } from "../storage-urls.js";
import type { Clock } from "../../runtime/clock.js";
import {
  createFile,
  isPlainDirectory,
  makeDirectories,
  withDiskErrors,
  openRegular,
  orAbsent,
  removeEmpty,
  removeEmptyDirectory,
  syncDirectory,
} from "./disk.js";
import {
  defaultDescription,
  type Description,
  readDescription,
  removeDescription,
  temporaryName,
  writeDescription,
} from "./fs-description.js";
import { listKeys } from "./fs-listing.js";
import { toStoredFile, isLost, isUnchanged, createLostError, VersionTimes } from "./fs-version.js";
import { writeChunks } from "./fs-write.js";

const READ_BYTES = 131_072;
/** The attempts if another process removes an empty directory, or replaces a file, at the same moment. */
const MAX_TRIES = 8;

interface OpenContent {
  readonly handle: FileHandle;
  readonly file: StoredFile;
  readonly mtimeNs: bigint;
}

/** A content that is moved to its key. */
interface DescribedContent {
  readonly path: string;
  readonly description: Description;
  /** The version that the description belongs to; unset for a new content. */
  readonly mtimeNs?: bigint;
}

/** The location of a key on the disk. */
interface DiskPlace {
  readonly root: string;
  /** The directories below the root. */
  readonly folder: readonly string[];
  readonly path: string;
}

export class FsFiles implements StorageFiles {
  private realRoot: string | undefined = undefined;
  private readonly times: VersionTimes;

  constructor(
    private readonly root: string,
    clock: Clock,
    readonly urls: StorageUrls | undefined,
  ) {
    this.times = new VersionTimes(clock);
  }

  /** The root with all links followed; it exists. */
  async findRoot(): Promise<string> {
    return (this.realRoot ??= await withDiskErrors(realpath(this.root)));
  }

  async write(key: string, content: StorageContent): Promise<StoredFile> {
    const place = await this.locate(key);
    await removeEmptyDirectory(place.path);
    const temporary = join(dirname(place.path), temporaryName());
    const handle = await this.createTemporary(place, temporary);
    try {
      try {
        await writeChunks(handle, content.source);
        const time = this.times.next();
        await withDiskErrors(handle.utimes(time, time));
        await withDiskErrors(handle.sync());
      } finally {
        await handle.close();
      }
      return await this.publish(key, place, { path: temporary, description: content });
    } catch (error) {
      await rm(temporary, { force: true });
      await removeEmpty(place.root, place.folder);
      throw error;
    }
  }

  async open(key: string, range?: StorageRange): Promise<OpenedFile | undefined> {
    const content = await this.openContent(key);
    if (content === undefined) return undefined;
    const { handle, file } = content;
    try {
      const { first, length } = resolveRange(range, file.size);
      if (length > 0)
        return {
          file,
          body: handle.createReadStream({ start: first, end: first + length - 1, highWaterMark: READ_BYTES }),
        };
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return { file, body: Readable.from([], { objectMode: false }) };
  }

  async stat(key: string): Promise<StoredFile | undefined> {
    const content = await this.openContent(key);
    await content?.handle.close();
    return content?.file;
  }

  async list(prefix: string, limit: number, cursor: string | undefined, signal?: AbortSignal): Promise<StorageListing> {
    const root = await this.findRoot();
    const files: Pick<StoredFile, "key" | "size" | "modified">[] = [];
    for await (const key of listKeys(root, prefix, cursor)) {
      signal?.throwIfAborted();
      if (files.length === limit) return { files, cursor: files.at(-1)?.key };
      const stats = await orAbsent(lstat(join(root, key)));
      if (stats !== undefined) files.push({ key, size: stats.size, modified: stats.mtime });
    }
    return { files, cursor: undefined };
  }

  async delete(key: string): Promise<void> {
    const place = await this.locate(key);
    if (!(await isPlainDirectory(place.root, place.folder))) return;
    const stats = await orAbsent(lstat(place.path, { bigint: true }));
    if (stats?.isFile() !== true) return;
    await withDiskErrors(rm(place.path, { force: true }));
    await removeDescription(place.path, stats.mtimeNs);
    await removeEmpty(place.root, place.folder);
  }

  async copy(from: string, to: string, visibility?: StorageVisibility): Promise<StoredFile | undefined> {
    if (from === to) return this.describe(from, visibility);
    const content = await this.openContent(from);
    if (content === undefined) return undefined;
    const { file, handle } = content;
    const source = handle.createReadStream({ highWaterMark: READ_BYTES });
    try {
      return await this.write(to, { ...file, visibility: visibility ?? file.visibility, source });
    } finally {
      source.destroy();
    }
  }

  async move(from: string, to: string, visibility?: StorageVisibility): Promise<StoredFile | undefined> {
    if (from === to) return this.describe(from, visibility);
    const [source, target] = [await this.locate(from), await this.locate(to)];
    try {
      for (let tries = 1; ; tries++) {
        const content = await this.openContent(from);
        if (content === undefined) return undefined;
        await content.handle.close();
        try {
          return await this.moveContent(content, source, to, target, visibility);
        } catch (error) {
          // Another caller has moved or replaced the original, or removed an empty directory.
          if (tries === MAX_TRIES || !isLost(error)) throw error;
        }
      }
    } finally {
      await removeEmpty(target.root, target.folder);
    }
  }

  publicUrl(key: string): string {
    return this.requireUrls().publicUrl(key);
  }

  async signedUrl(key: string, download: SignedDownload): Promise<string> {
    return this.requireUrls().download(key, download);
  }

  async signedUpload(key: string, terms: SignedUploadTerms): Promise<SignedUpload> {
    return this.requireUrls().upload(key, terms);
  }

  private async moveContent(
    { file, mtimeNs }: OpenContent,
    source: DiskPlace,
    to: string,
    target: DiskPlace,
    visibility: StorageVisibility | undefined,
  ): Promise<StoredFile> {
    await removeEmptyDirectory(target.path);
    await makeDirectories(target.root, target.folder);
    const description = { ...file, visibility: visibility ?? file.visibility };
    const moved = await this.publish(to, target, { path: source.path, description, mtimeNs });
    await removeDescription(source.path, mtimeNs);
    await removeEmpty(source.root, source.folder);
    return moved;
  }

  private requireUrls(): StorageUrls {
    if (this.urls === undefined) throw withoutUrls();
    return this.urls;
  }

  /**
   * Puts the content at `path` under its key, with its description. @throws an error that `isLost` recognises, if another content is there
   */
  private async publish(
    key: string,
    place: DiskPlace,
    { path, description, mtimeNs }: DescribedContent,
  ): Promise<StoredFile> {
    const found = await withDiskErrors(lstat(path, { bigint: true }));
    if (mtimeNs !== undefined && found.mtimeNs !== mtimeNs) throw createLostError();
    const old = await orAbsent(lstat(place.path, { bigint: true }));
    const fresh = old?.mtimeNs === found.mtimeNs ? await this.times.renew(path) : found;
    await writeDescription(place.path, fresh.mtimeNs, description);
    try {
      await withDiskErrors(rename(path, place.path));
    } catch (error) {
      await removeDescription(place.path, fresh.mtimeNs);
      throw error;
    }
    if (old !== undefined) await removeDescription(place.path, old.mtimeNs);
    await syncDirectory(dirname(place.path));
    return toStoredFile(key, fresh, description);
  }

  private async describe(key: string, visibility: StorageVisibility | undefined): Promise<StoredFile | undefined> {
    const content = await this.openContent(key);
    if (content === undefined) return undefined;
    await content.handle.close();
    const file = { ...content.file, visibility: visibility ?? content.file.visibility };
    await writeDescription((await this.locate(key)).path, content.mtimeNs, file);
    return file;
  }

  private async openContent(key: string): Promise<OpenContent | undefined> {
    const { root, folder, path } = await this.locate(key);
    for (let tries = 1; ; tries++) {
      if (!(await isPlainDirectory(root, folder))) return undefined;
      const handle = await openRegular(path);
      if (handle === undefined) return undefined;
      try {
        const stats = await withDiskErrors(handle.stat({ bigint: true }));
        const description = await readDescription(path, stats.mtimeNs);
        if (description !== undefined || tries === MAX_TRIES || (await isUnchanged(path, stats)))
          return {
            handle,
            mtimeNs: stats.mtimeNs,
            file: toStoredFile(key, stats, description ?? defaultDescription()),
          };
      } catch (error) {
        await handle.close();
        throw error;
      }
      // New content has replaced this content and removed its description.
      await handle.close();
    }
  }

  private async createTemporary({ root, folder }: DiskPlace, temporary: string): Promise<FileHandle> {
    for (let tries = 1; ; tries++) {
      try {
        if (!(await isPlainDirectory(root, folder))) await makeDirectories(root, folder);
        return await withDiskErrors(createFile(temporary));
      } catch (error) {
        // Another caller has removed an empty directory.
        if (tries === MAX_TRIES || !isLost(error)) throw error;
      }
    }
  }

  private async locate(key: string): Promise<DiskPlace> {
    const root = await this.findRoot();
    return { root, folder: key.split("/").slice(0, -1), path: join(root, key) };
  }
}
