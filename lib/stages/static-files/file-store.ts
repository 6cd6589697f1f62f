/**
 * The files below one directory: found, checked for where they really lie, and read. Every question asks the file system at least
 * once, so an answer is never older than the request; what is remembered saves the further questions, and reading what is asked for
 * often.
 */
import type { Stats } from "node:fs";
import { StaticFile, type Suffix } from "./file.js";
import { closeFile, FileStream, type Section, openFile, readAndClose, realPathOf, statOf, statOfOpen } from "./fs.js";
import type { Clock } from "../../runtime/clock.js";

/**
 * The bytes of files that are asked for again and again, within a budget. Says nothing about whether they are still right: they
 * belong to one state of one file, and whoever asks has just seen the file in that state.
 *
 * Room is made only from what nobody has asked for lately. A client that goes through many files can therefore not have them all
 * read into memory; those that do not fit are streamed.
 */
const IDLE_MS = 10_000;
const SWEEP_MS = 1000;

interface CacheEntry {
  /** `undefined` while someone is reading them. */
  bytes: Buffer | undefined;
  usedAt: number;
}

export class FileCache {
  private readonly entries = new Map<StaticFile, CacheEntry>();
  private size = 0;
  private sweptAt = -Infinity;

  /** @param budget bytes in all */
  constructor(private readonly budget: number) {}

  find(file: StaticFile, now: number): Buffer | undefined {
    const kept = this.entries.get(file);
    if (kept === undefined) return undefined;
    kept.usedAt = now;
    return kept.bytes;
  }

  /** Whether the caller is to read the file and `put` its bytes, or `drop` it. */
  reserve(file: StaticFile, now: number): boolean {
    if (this.entries.has(file)) return false;
    if (this.size + file.size > this.budget) this.sweep(now);
    if (this.size + file.size > this.budget) return false;
    this.entries.set(file, { bytes: undefined, usedAt: now });
    this.size += file.size;
    return true;
  }

  /** Does nothing for a file that was dropped in the meantime. */
  put(file: StaticFile, bytes: Buffer): void {
    const kept = this.entries.get(file);
    if (kept !== undefined) kept.bytes = bytes;
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

/**
 * A file that changes from one look to the next, as it is in the moment it is opened: what the descriptor tells is what is sent, and
 * nothing has to agree with an earlier look any more. Released once, whether it was read or not.
 */
export class OpenFile {
  private isTaken = false;

  constructor(
    private readonly descriptor: number,
    readonly file: StaticFile,
  ) {}

  /** To be called once at most; the stream closes the descriptor. */
  read(section: Section): Buffer | FileStream {
    if (section.length === 0) return Buffer.alloc(0);
    this.isTaken = true;
    return new FileStream(this.descriptor, section);
  }

  async release(): Promise<void> {
    if (!this.isTaken) await closeFile(this.descriptor);
  }
}

/** Files up to this size are read at once, larger ones chunk by chunk unless their bytes are kept. */
const SMALL_BYTES = 131_072;
const MAX_CACHED_FILE_BYTES = 1_048_576;
const CACHE_BYTES = 33_554_432;
const MAX_KNOWN_FILES = 4096;
/** How long a file that did not change is taken to lie where it lay. */
const TRUST_MS = 1000;

interface KnownFile {
  readonly file: StaticFile;
  /** When the links on the way were followed. */
  followedAt: number;
}

export class FileStore {
  private readonly states = new Map<string, KnownFile>();
  private readonly cache = new FileCache(CACHE_BYTES);

  constructor(private readonly root: string) {}

  /** The regular file at `path`, which begins with a slash; `undefined` where there is none, or where a link leads out of the root. */
  async find(path: string, suffix: Suffix, clock: Clock): Promise<StaticFile | undefined> {
    const stats = await statOf(this.root + path);
    const known = this.states.get(path);
    if (stats === undefined || !stats.isFile()) return this.forget(path);
    const now = clock.monotonic();
    const isTrusted = known !== undefined && now - known.followedAt < TRUST_MS;
    if (isTrusted && known.file.isSame(stats)) return known.file;
    return (await this.isInside(path)) ? this.learn(path, stats, suffix, now) : this.forget(path);
  }

  /** What the section holds; `undefined` where the file is no longer the one that was found. */
  async read(path: string, file: StaticFile, section: Section, clock: Clock): Promise<Buffer | FileStream | undefined> {
    const now = clock.monotonic();
    const kept = this.cache.find(file, now);
    if (kept !== undefined) return part(kept, section);
    const isKept = file.size <= MAX_CACHED_FILE_BYTES && file.isAtRest(clock.now()) && this.cache.reserve(file, now);
    if (isKept) return this.readToKeep(path, file, section);
    const descriptor = await this.open(path, file);
    if (descriptor === undefined) return undefined;
    if (file.size > SMALL_BYTES) return new FileStream(descriptor, section);
    const bytes = await readAndClose(descriptor, file.size);
    return bytes.length === file.size ? part(bytes, section) : undefined;
  }

  /** The file that was found, in the state in which it is now; `undefined` where another one lies there. The caller releases it. */
  async openNow(path: string, found: StaticFile): Promise<OpenFile | undefined> {
    const descriptor = await openFile(this.root + path);
    if (descriptor === undefined) return undefined;
    const stats = await statOfOpen(descriptor);
    if (found.isNode(stats)) return new OpenFile(descriptor, new StaticFile(stats, found.suffix));
    await closeFile(descriptor);
    return undefined;
  }

  /** Whether there is a file that the process may read: one that it may not is found all the same. */
  async canOpen(path: string): Promise<boolean> {
    const descriptor = await openFile(this.root + path);
    if (descriptor !== undefined) await closeFile(descriptor);
    return descriptor !== undefined;
  }

  private async readToKeep(path: string, file: StaticFile, section: Section): Promise<Buffer | undefined> {
    let bytes: Buffer | undefined;
    try {
      const descriptor = await this.open(path, file);
      bytes = descriptor === undefined ? undefined : await readAndClose(descriptor, file.size);
    } finally {
      if (bytes?.length === file.size) this.cache.put(file, bytes);
      else this.cache.drop(file);
    }
    return bytes?.length === file.size ? part(bytes, section) : undefined;
  }

  private async open(path: string, file: StaticFile): Promise<number | undefined> {
    const descriptor = await openFile(this.root + path);
    if (descriptor === undefined) return undefined;
    const stats = await statOfOpen(descriptor);
    if (file.isSame(stats)) return descriptor;
    await closeFile(descriptor);
    return undefined;
  }

  /** The root may be a link itself, and lead elsewhere after a deployment. */
  private async isInside(path: string): Promise<boolean> {
    const [root, file] = await Promise.all([realPathOf(this.root), realPathOf(this.root + path)]);
    if (root === undefined || file === undefined || !file.startsWith(root)) return false;
    return /[/\\]$/.test(root) || /^[/\\]/.test(file.slice(root.length));
  }

  private learn(path: string, stats: Stats, suffix: Suffix, now: number): StaticFile {
    const known = this.states.get(path);
    if (known?.file.isSame(stats) === true) {
      known.followedAt = now;
      return known.file;
    }
    this.forget(path);
    const [oldest] = this.states.keys();
    if (oldest !== undefined && this.states.size >= MAX_KNOWN_FILES) this.forget(oldest);
    const file = new StaticFile(stats, suffix);
    this.states.set(path, { file, followedAt: now });
    return file;
  }

  private forget(path: string): undefined {
    const known = this.states.get(path);
    if (known === undefined) return;
    this.cache.drop(known.file);
    this.states.delete(path);
  }
}

function part(bytes: Buffer, { first, length }: Section): Buffer {
  return length === bytes.length ? bytes : bytes.subarray(first, first + length);
}
