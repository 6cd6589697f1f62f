/**
 * The `Storage` in a directory of the disk; the entry point `@stagecraft/framework/storage/fs`. A key is the path of its file below the
 * directory. The internal files of the driver there have the prefix `.~`: temporary ones, and descriptions of files that are not private or
 * not `application/octet-stream`. Several processes may share the directory.
 *
 * Not for instances on several machines, unless they mount the same file system; `S3Storage` is for those.
 *
 * @example
 * provide(Storage).useFactory((resolve) => new FsStorage({ root: "/var/lib/shop", urls: { base: "https://shop.example/files", key } }));
 */
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { createSetupError } from "../../errors/setup-error.js";
import { Storage } from "../storage.js";
import { driverFault, StorageUnavailableError } from "../storage-errors.js";
import { StorageUrls, type StorageUrlOptions } from "../storage-urls.js";
import { type Clock, SystemClock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { FsFiles } from "./fs-files.js";
import { sweep } from "./fs-listing.js";

export interface FsStorageOptions {
  /** The directory; it is created if it is missing. A relative path starts at the working directory of the process. */
  readonly root: string;
  /** Where the application serves the files, and the key of the signatures. Without it there are no URLs. */
  readonly urls?: StorageUrlOptions;
  /** The age at which a temporary file belongs to no process any more, in milliseconds; one hour unless set. */
  readonly staleMs?: number;
  /** The name in health checks and events; `FsStorage` unless set. */
  readonly name?: string;
  /** The machine's clock unless set. */
  readonly clock?: Clock;
}

const STALE_MS = 3_600_000;

const log = tracing.target("framework::storage::fs");

export class FsStorage extends Storage {
  override readonly name: string;
  protected readonly files: FsFiles;
  private readonly root: string;
  private readonly staleMs: number;
  private readonly stopping = new AbortController();
  private sweeping: Promise<void> | undefined = undefined;

  /** Touches no file. @throws FrameworkError `E_STORAGE_ROOT`, `E_STORAGE_URLS` */
  constructor(options: FsStorageOptions) {
    super(options.clock ?? new SystemClock());
    this.name = options.name ?? "FsStorage";
    this.root = readRoot(options.root);
    this.staleMs = options.staleMs ?? STALE_MS;
    const urls = options.urls === undefined ? undefined : new StorageUrls(options.urls);
    this.files = new FsFiles(this.root, this.clock, urls);
  }

  /**
   * Creates the directory, and starts to remove the temporary files of killed processes. The application does not wait for the removal.
   *
   * @throws StorageUnavailableError if the directory cannot be created or written to
   */
  override async start(): Promise<void> {
    try {
      await mkdir(this.root, { recursive: true });
      await this.probe();
    } catch (error) {
      const fault = driverFault(error);
      throw new StorageUnavailableError(fault, `The directory ${this.root} of a storage: ${fault.message}.`);
    }
    this.sweeping = this.sweep();
  }

  /** Stops the removal of old files. */
  override async stop(): Promise<void> {
    this.stopping.abort();
    await this.sweeping;
  }

  override async probe(): Promise<void> {
    await access(this.root, constants.R_OK | constants.W_OK);
  }

  /** Resolves when the files of killed processes are removed. Tests wait for it. @internal */
  get swept(): Promise<void> {
    return this.sweeping ?? Promise.resolve();
  }

  private async sweep(): Promise<void> {
    try {
      const root = await this.files.findRoot();
      const count = await sweep(root, this.clock.now() - this.staleMs, this.stopping.signal);
      if (count > 0) log.info("files of an ended process removed", { count });
    } catch (error) {
      log.warn("files of an ended process could not be removed", { error });
    }
  }
}

// JavaScript callers may pass anything.
function readRoot(root: unknown): string {
  if (typeof root === "string" && root !== "" && !root.includes("\0")) return resolve(root);
  throw createSetupError("E_STORAGE_ROOT", 'the root of a storage is the path of a directory, such as "/var/lib/shop"');
}
