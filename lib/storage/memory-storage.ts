/**
 * The `Storage` in the memory of the process: it replaces a storage in tests. It has the rules of the strictest driver, so that a test
 * finds a key that a disk could not hold: a file cannot lie below another file.
 *
 * Not for production: files are lost with the process, and each instance has separate files.
 *
 * @example
 * await using app = await testApp(ShopModule, provide(Storage).useFactory(() => new MemoryStorage()));
 */
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { checkWholeNumber } from "../errors/whole-number.js";
import { Storage } from "./storage.js";
import { keyInTheWay, StorageFullError } from "./storage-errors.js";
import {
  compareKeys,
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
} from "./storage-files.js";
import { StorageUrls, type StorageUrlOptions } from "./storage-urls.js";
import type { PerProcess, ProcessState } from "../lifecycle/process-state.js";
import { type Clock, SystemClock } from "../runtime/clock.js";

export interface MemoryStorageOptions {
  /** The most bytes of all files together; 67 108 864 (64 MiB) unless set. */
  readonly maxBytes?: number;
  /** The name in health checks and events; `MemoryStorage` unless set. */
  readonly name?: string;
  /** Where the application serves the files; `http://storage.test/files` and a random key unless set. */
  readonly urls?: StorageUrlOptions;
  /** The machine's clock unless set. */
  readonly clock?: Clock;
}

const IN_MEMORY: ProcessState = { what: "files of a storage are in memory", fix: "use FsStorage or S3Storage" };

const DEFAULT_BYTES = 67_108_864;
const TEST_BASE = "http://storage.test/files";
const CHUNK_BYTES = 65_536;

export class MemoryStorage extends Storage implements PerProcess {
  readonly perProcess: ProcessState | undefined = IN_MEMORY;
  override readonly name: string;
  protected readonly files: MemoryFiles;

  /** @throws FrameworkError `E_STORAGE_LIMIT` for a bound that is not a whole number above 0 */
  constructor(options: MemoryStorageOptions = {}) {
    const clock = options.clock ?? new SystemClock();
    super(clock);
    this.name = options.name ?? "MemoryStorage";
    const urls = new StorageUrls(options.urls ?? { base: TEST_BASE, key: randomBytes(32) });
    this.files = new MemoryFiles(
      clock,
      checkWholeNumber("E_STORAGE_LIMIT", "maxBytes of a storage", options.maxBytes ?? DEFAULT_BYTES, [1]),
      urls,
    );
  }

  override start(): void {}

  override stop(): void {
    this.files.clear();
  }
}

interface MemoryFile {
  readonly file: StoredFile;
  readonly bytes: Buffer;
}

class MemoryFiles implements StorageFiles {
  private readonly entries = new Map<string, MemoryFile>();
  private total = 0;
  private versions = 0;

  constructor(
    private readonly clock: Clock,
    private readonly maxBytes: number,
    readonly urls: StorageUrls,
  ) {}

  async write(key: string, { source, type, visibility, metadata }: StorageContent): Promise<StoredFile> {
    const bytes = source instanceof Uint8Array ? Buffer.from(source) : await this.collect(source);
    return this.store(key, bytes, { type, visibility, metadata });
  }

  async open(key: string, range?: StorageRange): Promise<OpenedFile | undefined> {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const { first, length } = resolveRange(range, entry.file.size);
    const chunks = splitChunks(entry.bytes.subarray(first, first + length));
    return { file: entry.file, body: Readable.from(chunks, { objectMode: false }) };
  }

  async stat(key: string): Promise<StoredFile | undefined> {
    return this.entries.get(key)?.file;
  }

  async list(prefix: string, limit: number, cursor: string | undefined): Promise<StorageListing> {
    const found = [...this.entries.values()]
      .map(({ file: { key, size, modified } }) => ({ key, size, modified }))
      .filter(({ key }) => key.startsWith(prefix) && (cursor === undefined || compareKeys(key, cursor) > 0))
      .toSorted((one, other) => compareKeys(one.key, other.key));
    const files = found.slice(0, limit);
    return { files, cursor: found.length > limit ? files.at(-1)?.key : undefined };
  }

  async delete(key: string): Promise<void> {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.total -= entry.file.size;
  }

  async copy(from: string, to: string, visibility?: StorageVisibility): Promise<StoredFile | undefined> {
    const entry = this.entries.get(from);
    return entry && this.store(to, entry.bytes, { ...entry.file, visibility: visibility ?? entry.file.visibility });
  }

  async move(from: string, to: string, visibility?: StorageVisibility): Promise<StoredFile | undefined> {
    const copied = await this.copy(from, to, visibility);
    if (copied !== undefined && from !== to) await this.delete(from);
    return copied;
  }

  publicUrl(key: string): string {
    return this.urls.publicUrl(key);
  }

  async signedUrl(key: string, download: SignedDownload): Promise<string> {
    return this.urls.download(key, download);
  }

  async signedUpload(key: string, terms: SignedUploadTerms): Promise<SignedUpload> {
    return this.urls.upload(key, terms);
  }

  clear(): void {
    this.entries.clear();
    this.total = 0;
  }

  private async collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > this.maxBytes) throw new StorageFullError();
      // The source may use its buffer again.
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks, size);
  }

  private store(
    key: string,
    bytes: Buffer,
    { type, visibility, metadata }: Pick<StoredFile, "type" | "visibility" | "metadata">,
  ): StoredFile {
    const total = this.total - (this.entries.get(key)?.file.size ?? 0) + bytes.byteLength;
    if (total > this.maxBytes) throw new StorageFullError();
    for (const other of this.entries.keys()) {
      if (other.startsWith(`${key}/`) || key.startsWith(`${other}/`)) throw keyInTheWay();
    }
    const etag = `"${++this.versions}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`;
    const modified = new Date(this.clock.now());
    const file = { key, size: bytes.byteLength, type, etag, modified, visibility, metadata };
    this.entries.set(key, { file, bytes });
    this.total = total;
    return file;
  }
}

function* splitChunks(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
