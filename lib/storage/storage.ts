/**
 * A store of files under keys such as `avatars/7/face.png`. Provide `FsStorage` (`@stagecraft/framework/storage/fs`), `S3Storage`
 * (`@stagecraft/framework/storage/s3`) or, in tests, `MemoryStorage` (`@stagecraft/framework/storage`) for this class, and inject the
 * class. For several storages declare a subclass for each: `abstract class Avatars extends Storage {}`.
 *
 * Files are streams in both directions; their content is not buffered in memory. All work ends with the request for which it runs, and with
 * `signal`. A file is stored whole or not at all.
 *
 * Not for small values that may be lost (`Cache`), and not for the files of a front end (`staticFiles`).
 *
 * @example
 * constructor(private readonly files: Storage) {}
 * async receive(ctx: Context<"id">) { await this.files.put(`scans/${ctx.params.id}`, ctx.req, { type: "application/pdf" }); }
 * show({ params }: Context<"id">) { return this.files.download(`scans/${params.id}`, { name: "scan.pdf" }); }
 */
import type { Readable } from "node:stream";
import { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { Context } from "../http/request/context.js";
import type { Reply } from "../http/response/reply.js";
import { type Clock, SystemClock } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { Operations, type SubsystemHost } from "../lifecycle/operations.js";
import {
  toDisposition,
  createDownloadReply,
  type DownloadReply,
  type StorageDownloadOptions,
} from "./storage-download.js";
import { StoredFileMissingError } from "./storage-errors.js";
import type { OpenedFile, SignedUpload, StorageFiles, StorageListing, StoredFile } from "./storage-files.js";
import { checkMediaType, checkMetadata, checkStorageKey, checkStoragePrefix } from "./storage-key.js";
import {
  checkListing,
  checkRange,
  checkSize,
  checkVisibility,
  COPY_NAMES,
  toDeadline,
  GET_NAMES,
  LIST_NAMES,
  ONLY_SIGNAL_NAMES,
  PUT_NAMES,
  type SignedUploadOptions,
  type SignedUrlOptions,
  type StorageCopyOptions,
  type StorageGetOptions,
  type StorageListOptions,
  type StorageOptions,
  type StoragePutOptions,
  UPLOAD_NAMES,
  URL_NAMES,
} from "./storage-options.js";
import { serveUrl } from "./storage-serve.js";
import { closeAfterRefusal, toSource, type StorageInput } from "./storage-source.js";
import { Subsystem } from "../lifecycle/subsystem.js";
import { currentWorkScope } from "../lifecycle/work-scope.js";

const NAMES = { target: "framework::storage", span: "framework.storage" } as const;

export abstract class Storage extends Subsystem {
  readonly kind = "storage";
  override readonly followsRequests = true;

  /** The driver. */
  protected abstract readonly files: StorageFiles;

  private operations: Operations | undefined = undefined;

  /** @param clock the time of deadlines and time limits */
  constructor(protected readonly clock: Clock = new SystemClock()) {
    super();
  }

  override prepare(host: SubsystemHost): void {
    this.operations = new Operations(NAMES, host);
  }

  /**
   * Stores the content under `key`, in the place of a file that was there. Readers see the old file until the new one is whole. After an
   * error nothing has changed.
   *
   * @throws StorageKeyError; StorageFullError; StorageUnavailableError; BadRequestError `E_STORAGE_SIZE`, `E_STORAGE_TYPE`,
   * `E_STORAGE_METADATA`, `E_STORAGE_CONTENT`; the error of the source; the reason of a signal
   */
  put(key: string, content: StorageInput, options: StoragePutOptions = {}): Promise<StoredFile> {
    const putting = this.run("put", options, PUT_NAMES, async (signal) => {
      checkStorageKey(key);
      const { type = "application/octet-stream", size, visibility = "private", metadata = {} } = options;
      checkMediaType(type);
      checkVisibility(visibility);
      checkSize(size);
      const checked = { type, visibility, metadata: checkMetadata(metadata) };
      const source = toSource(content, size, signal);
      try {
        const known = source instanceof Uint8Array ? source.byteLength : size;
        return await this.files.write(key, { ...checked, source, size: known }, signal);
      } finally {
        // A driver that fails before the first chunk has not closed the source.
        if (!(source instanceof Uint8Array)) await source.return();
      }
    });
    return markHandled(closeAfterRefusal(putting, content));
  }

  /**
   * Opens the file for reading. Read `body` to its end, or destroy it.
   *
   * @throws StoredFileMissingError (404); StorageRangeError (416) if the range starts behind the end; StorageKeyError;
   * StorageUnavailableError
   */
  get(key: string, options: StorageGetOptions = {}): Promise<OpenedFile> {
    return this.run("get", options, GET_NAMES, async (signal) => {
      checkStorageKey(key);
      checkRange(options.range);
      const opened = requireFile(await this.files.open(key, options.range, signal));
      destroyOnAbort(opened.body, signal);
      return opened;
    });
  }

  /**
   * The whole content of a small file.
   *
   * @param maxBytes the bound; a larger file is refused before it is read
   * @throws FrameworkError `E_STORAGE_LARGE` for a larger file; as `get`
   */
  async bytes(key: string, maxBytes: number, options: StorageOptions = {}): Promise<Buffer> {
    const { file, body } = await this.get(key, options);
    if (file.size > maxBytes) {
      body.destroy();
      throw new FrameworkError(`the file has ${file.size} bytes; at most ${maxBytes} may be read into memory`, {
        code: "E_STORAGE_LARGE",
      });
    }
    // Node's streams of bytes give buffers.
    return Buffer.concat((await body.toArray()) as Buffer[], file.size);
  }

  /** The description of the file; `undefined` if there is none. @throws StorageKeyError; StorageUnavailableError */
  stat(key: string, options: StorageOptions = {}): Promise<StoredFile | undefined> {
    return this.run("stat", options, ONLY_SIGNAL_NAMES, (signal) => {
      checkStorageKey(key);
      return this.files.stat(key, signal);
    });
  }

  /**
   * The files whose keys start with `prefix`, in the order of the bytes of their keys, in pages.
   *
   * @throws StorageKeyError; BadRequestError `E_STORAGE_LIST` for an invalid limit or cursor; StorageUnavailableError
   */
  list(prefix = "", options: StorageListOptions = {}): Promise<StorageListing> {
    return this.run("list", options, LIST_NAMES, (signal) => {
      checkStoragePrefix(prefix);
      const { limit, cursor } = checkListing(options);
      return this.files.list(prefix, limit, cursor, signal);
    });
  }

  /** Deletes the file; does nothing if there is none. @throws StorageKeyError; StorageUnavailableError */
  delete(key: string, options: StorageOptions = {}): Promise<void> {
    return this.run("delete", options, ONLY_SIGNAL_NAMES, (signal) => {
      checkStorageKey(key);
      return this.files.delete(key, signal);
    });
  }

  /** Copies the file with its type and metadata. @throws StoredFileMissingError; as `put` */
  copy(from: string, to: string, options: StorageCopyOptions = {}): Promise<StoredFile> {
    return this.transfer("copy", from, to, options);
  }

  /**
   * Copies the file, and deletes the original. On a disk it is one step; on S3 a failure between the two leaves both.
   *
   * @throws StoredFileMissingError; as `put`
   */
  move(from: string, to: string, options: StorageCopyOptions = {}): Promise<StoredFile> {
    return this.transfer("move", from, to, options);
  }

  /**
   * The response that sends the file: as an attachment, with its type, in a sandbox. Ranges and conditions of the running request count.
   *
   * @throws StoredFileMissingError (404); StorageRangeError (416); FrameworkError `E_STORAGE_PRECONDITION` (412); as `get`
   */
  download(key: string, options: StorageDownloadOptions = {}): Promise<DownloadReply> {
    const request = options.request ?? currentWorkScope()?.incoming;
    return markHandled(createDownloadReply(this, key, toDisposition(options), request));
  }

  /** The URL of a public file; it works while the file is public. @throws FrameworkError `E_STORAGE_URL`; StorageKeyError */
  url(key: string): string {
    checkStorageKey(key);
    return this.files.publicUrl(key);
  }

  /**
   * A URL by which a client reads the file for a limited time.
   *
   * @throws FrameworkError `E_STORAGE_URL`, `E_STORAGE_OPTION`; StorageKeyError
   */
  async signedUrl(key: string, options: SignedUrlOptions): Promise<string> {
    checkOptionNames(options, URL_NAMES, "signedUrl");
    checkStorageKey(key);
    const expires = toDeadline(this.clock.now(), options.expiresMs);
    return this.files.signedUrl(key, { expires, disposition: toDisposition(options) });
  }

  /**
   * A request by which a client stores one file of this type and size, without the application in between.
   *
   * @throws FrameworkError `E_STORAGE_URL`, `E_STORAGE_OPTION`; BadRequestError `E_STORAGE_TYPE`, `E_STORAGE_SIZE`; StorageKeyError
   */
  async signedUpload(key: string, options: SignedUploadOptions): Promise<SignedUpload> {
    checkOptionNames(options, UPLOAD_NAMES, "signedUpload");
    checkStorageKey(key);
    const { type, size, expiresMs } = options;
    checkMediaType(type);
    checkSize(size);
    return this.files.signedUpload(key, { type, size, expires: toDeadline(this.clock.now(), expiresMs) });
  }

  /**
   * Serves the URLs of this storage: the handler of GET and PUT at `{*key}` below the base of the URLs. Without a signature only a public
   * file is served.
   *
   * @throws ForbiddenError `E_STORAGE_SIGNATURE` (403) for a wrong signature or a deadline that has passed; NotFoundError for storages
   * whose URLs lead elsewhere; as `download` and `put`
   */
  serve(ctx: Context<"key">): Promise<Reply> {
    const { urls } = this.files;
    if (urls === undefined) return markHandled(Promise.reject(new StoredFileMissingError()));
    return markHandled(serveUrl(this, urls, ctx, this.clock.now()));
  }

  private transfer(
    operation: "copy" | "move",
    from: string,
    to: string,
    options: StorageCopyOptions,
  ): Promise<StoredFile> {
    return this.run(operation, options, COPY_NAMES, async (signal) => {
      checkStorageKey(from);
      checkStorageKey(to);
      const { visibility } = options;
      if (visibility !== undefined) checkVisibility(visibility);
      if (from === to && visibility === undefined) return requireFile(await this.files.stat(from, signal));
      return requireFile(await this.files[operation](from, to, visibility, signal));
    });
  }

  private run<O extends StorageOptions, T>(
    operation: string,
    options: O,
    names: OptionNames<O>,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const runChecked = async (): Promise<T> => {
      checkOptionNames(options, names, operation);
      const signal = joinSignals(currentWorkScope()?.signal, options.signal);
      signal?.throwIfAborted();
      return work(signal);
    };
    return markHandled(this.operations === undefined ? runChecked() : this.operations.run(operation, runChecked));
  }
}

function joinSignals(request: AbortSignal | undefined, given: AbortSignal | undefined): AbortSignal | undefined {
  if (request === undefined || given === undefined) return request ?? given;
  return AbortSignal.any([request, given]);
}

/** Destroys the stream when the signal aborts. An error of a stream that is not read yet must not end the process. */
function destroyOnAbort(body: Readable, signal: AbortSignal | undefined): void {
  body.on("error", () => {});
  if (signal === undefined) return;
  // The reason of a signal may be any value; those of the framework are errors.
  const end = (): void => void body.destroy(signal.reason as Error);
  if (signal.aborted) return end();
  signal.addEventListener("abort", end, { once: true });
  body.once("close", () => signal.removeEventListener("abort", end));
}

function requireFile<T>(found: T | undefined): T {
  if (found === undefined) throw new StoredFileMissingError();
  return found;
}
