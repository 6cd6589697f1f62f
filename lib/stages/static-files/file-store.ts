/**
 * Finds and reads the files below one directory. Symbolic links are followed to check that a file lies inside the directory. Each request
 * calls the file system at least once, so a response is never older than its request. Known states save further calls, and the cache saves
 * reading files that are requested often.
 */
import type { Stats } from "node:fs";
import { FileCache } from "./file-cache.js";
import { StaticFile, type Suffix } from "./file.js";
import { closeFile, FileStream, openFile, readAndClose, findRealPath, findStats, readOpenStats } from "./fs.js";
import type { Section } from "../../http/response/conditions.js";
import type { Clock } from "../../runtime/clock.js";

/** Files up to this size are read at once. Larger ones are streamed, unless the cache takes them. */
const SMALL_BYTES = 131_072;
const MAX_CACHED_FILE_BYTES = 1_048_576;
const CACHE_BYTES = 33_554_432;
const MAX_KNOWN_FILES = 4096;
/** After this time the links of a path are followed again, even if the file did not change. */
const TRUST_MS = 1000;

interface KnownFile {
  readonly file: StaticFile;
  /** The time at which the links of the path were followed. */
  followedAt: number;
}

type Contents = Buffer | FileStream | undefined;

export class FileStore {
  private readonly known = new Map<string, KnownFile>();
  private readonly cache = new FileCache(CACHE_BYTES);

  constructor(private readonly root: string) {}

  /** The regular file at `path`, with a leading slash; `undefined` if there is none, or if a link leads out of the directory. */
  async find(path: string, suffix: Suffix, clock: Clock): Promise<StaticFile | undefined> {
    const stats = await findStats(this.root + path);
    const known = this.known.get(path);
    if (stats === undefined || !stats.isFile()) return this.forget(path);
    const now = clock.monotonic();
    const isTrusted = known !== undefined && now - known.followedAt < TRUST_MS;
    if (isTrusted && known.file.isSame(stats)) return known.file;
    return (await this.isInside(path)) ? this.remember(path, stats, suffix, now) : this.forget(path);
  }

  /** The bytes of the section, at once if they are in the cache; `undefined` if the file has changed since `find`. */
  read(path: string, file: StaticFile, section: Section, clock: Clock): Buffer | Promise<Contents> {
    const now = clock.monotonic();
    const cached = this.cache.find(file, now);
    return cached === undefined ? this.readFromDisk(path, file, section, clock) : sliceSection(cached, section);
  }

  private async readFromDisk(path: string, file: StaticFile, section: Section, clock: Clock): Promise<Contents> {
    const now = clock.monotonic();
    const hasRoom = file.size <= MAX_CACHED_FILE_BYTES && file.isAtRest(clock.now()) && this.cache.reserve(file, now);
    if (hasRoom) return this.readIntoCache(path, file, section);
    const descriptor = await this.open(path, file);
    if (descriptor === undefined) return undefined;
    if (file.size > SMALL_BYTES) return new FileStream(descriptor, section);
    const bytes = await readAndClose(descriptor, file.size);
    return bytes.length === file.size ? sliceSection(bytes, section) : undefined;
  }

  /** Opens the found file in its present state; `undefined` if another file has replaced it. The caller releases it. */
  async openNow(path: string, found: StaticFile): Promise<OpenFile | undefined> {
    const descriptor = await openFile(this.root + path);
    if (descriptor === undefined) return undefined;
    const stats = await readOpenStats(descriptor);
    if (found.isSameInode(stats)) return new OpenFile(descriptor, new StaticFile(stats, found.suffix));
    await closeFile(descriptor);
    return undefined;
  }

  /** Whether the process may read the file: `find` also finds files that it may not read. */
  async canOpen(path: string): Promise<boolean> {
    const descriptor = await openFile(this.root + path);
    if (descriptor !== undefined) await closeFile(descriptor);
    return descriptor !== undefined;
  }

  private async readIntoCache(path: string, file: StaticFile, section: Section): Promise<Buffer | undefined> {
    let bytes: Buffer | undefined;
    try {
      const descriptor = await this.open(path, file);
      bytes = descriptor === undefined ? undefined : await readAndClose(descriptor, file.size);
    } finally {
      if (bytes?.length === file.size) this.cache.put(file, bytes);
      else this.cache.drop(file);
    }
    return bytes?.length === file.size ? sliceSection(bytes, section) : undefined;
  }

  private async open(path: string, file: StaticFile): Promise<number | undefined> {
    const descriptor = await openFile(this.root + path);
    if (descriptor === undefined) return undefined;
    const stats = await readOpenStats(descriptor);
    if (file.isSame(stats)) return descriptor;
    await closeFile(descriptor);
    return undefined;
  }

  /** The root is resolved each time too, because it may be a link that a deployment changes. */
  private async isInside(path: string): Promise<boolean> {
    const [root, file] = await Promise.all([findRealPath(this.root), findRealPath(this.root + path)]);
    if (root === undefined || file === undefined || !file.startsWith(root)) return false;
    return /[/\\]$/.test(root) || /^[/\\]/.test(file.slice(root.length));
  }

  private remember(path: string, stats: Stats, suffix: Suffix, now: number): StaticFile {
    const known = this.known.get(path);
    if (known?.file.isSame(stats) === true) {
      known.followedAt = now;
      return known.file;
    }
    this.forget(path);
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= MAX_KNOWN_FILES) this.forget(oldest);
    const file = new StaticFile(stats, suffix);
    this.known.set(path, { file, followedAt: now });
    return file;
  }

  private forget(path: string): undefined {
    const known = this.known.get(path);
    if (known === undefined) return;
    this.cache.drop(known.file);
    this.known.delete(path);
  }
}

/**
 * An open file in its state at the opening, for a file that changes all the time. The state comes from the descriptor, so it cannot differ
 * from the bytes that are sent. The caller calls `release` once, whether it has read the file or not.
 */
class OpenFile {
  private isStreamed = false;

  constructor(
    private readonly descriptor: number,
    readonly file: StaticFile,
  ) {}

  /** Call it at most once. A stream closes the descriptor itself. */
  read(section: Section): Buffer | FileStream {
    if (section.length === 0) return Buffer.alloc(0);
    this.isStreamed = true;
    return new FileStream(this.descriptor, section);
  }

  async release(): Promise<void> {
    if (!this.isStreamed) await closeFile(this.descriptor);
  }
}

function sliceSection(bytes: Buffer, { first, length }: Section): Buffer {
  return length === bytes.length ? bytes : bytes.subarray(first, first + length);
}
