/** The files of one request. They are stored in the directory of the process, and removed with the response. */
import { randomBytes } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { copyFile, type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import { describeThrown } from "../errors/thrown-value.js";
import { type UploadStore, type UploadStoreOptions, UploadedFile } from "../http/body/uploads.js";
import { tracing } from "../tracing/tracing.js";
import { sniff, SNIFFED_BYTES, type SniffedType } from "./sniff.js";
import type { TemporaryDirectory } from "./temporary-directory.js";

const log = tracing.target("framework::uploads");

const READABLE_BY_OWNER = 0o600;
/** No space, no quota, or more than the process may write to one file. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export class RequestFiles {
  private readonly paths = new Set<string>();
  private isClosed = false;

  constructor(private readonly directory: Pick<TemporaryDirectory, "createPath" | "recreate">) {}

  /** Writes the stream to a new file, which is removed with the others. `name` is that of the client. */
  async receive(content: Readable, name: string, signal: AbortSignal): Promise<UploadedFile> {
    const { path, file } = await this.open();
    const head = new FileHead(content);
    try {
      await pipeline(content, file.createWriteStream(), { signal });
    } catch (error) {
      throw toDiskFault(error);
    } finally {
      // The response may have ended while the file was opened or written.
      if (this.isClosed) await this.remove(path);
    }
    return new ReceivedFile(this, path, name, head.size, sniff(head.bytes));
  }

  /** Removes all files that were not moved. */
  async removeAll(): Promise<void> {
    this.isClosed = true;
    const paths = [...this.paths];
    this.paths.clear();
    for (const path of paths) await this.remove(path);
  }

  /** @throws FrameworkError `E_UPLOAD_GONE` */
  expectFile(path: string): void {
    if (this.paths.has(path)) return;
    throw new FrameworkError(
      "an uploaded file was used after its response, or after it was moved: store it before the handler returns",
      {
        code: "E_UPLOAD_GONE",
      },
    );
  }

  /** Keeps the file when the others are removed. */
  release(path: string): void {
    this.paths.delete(path);
  }

  private async remove(path: string): Promise<void> {
    this.paths.delete(path);
    await rm(path, { force: true }).catch((error: unknown) =>
      log.warn("an uploaded file could not be removed", describeThrown(error)),
    );
  }

  /** A new file. */
  private async open(): Promise<{ readonly path: string; readonly file: FileHandle }> {
    const path = await this.directory.createPath();
    this.paths.add(path);
    try {
      return { path, file: await open(path, "wx", READABLE_BY_OWNER) };
    } catch (error) {
      if (getCode(error) !== "ENOENT") throw toDiskFault(error);
      // A cleaner of temporary files has removed the directory.
      await this.directory.recreate();
      return { path, file: await open(path, "wx", READABLE_BY_OWNER) };
    }
  }
}

/** The first bytes of a stream, and its length, while another reader reads it. */
class FileHead {
  size = 0;
  private readonly chunks: Buffer[] = [];
  private headLength = 0;

  constructor(content: Readable) {
    content.on("data", (chunk: Buffer) => this.take(chunk));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  private take(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.headLength >= SNIFFED_BYTES) return;
    // A copy: the chunk is a part of a larger buffer, which would stay in memory.
    const part = Buffer.from(chunk.subarray(0, SNIFFED_BYTES - this.headLength));
    this.headLength += part.length;
    this.chunks.push(part);
  }
}

class ReceivedFile extends UploadedFile {
  static {
    // Schemas name the class of a value that they refuse, and clients read it.
    Object.defineProperty(this, "name", { value: UploadedFile.name });
  }

  override readonly type: string;
  override readonly extension: string;

  constructor(
    private readonly files: RequestFiles,
    private readonly path: string,
    override readonly name: string,
    override readonly size: number,
    { type, extension }: SniffedType,
  ) {
    super();
    this.type = type;
    this.extension = extension;
  }

  override stream(): Readable {
    this.files.expectFile(this.path);
    return createReadStream(this.path);
  }

  override async bytes(): Promise<Buffer> {
    this.files.expectFile(this.path);
    return readFile(this.path);
  }

  override async storeIn<T>(
    store: UploadStore<T>,
    folder: string,
    options: Pick<UploadStoreOptions, "visibility"> = {},
  ): Promise<T> {
    const { type, size, extension } = this;
    const name = randomBytes(16).toString("hex") + extension;
    return store.put(folder === "" ? name : `${folder}/${name}`, this.stream(), { ...options, type, size });
  }

  override async moveTo(path: string): Promise<void> {
    this.files.expectFile(this.path);
    try {
      await rename(this.path, path);
      this.files.release(this.path);
    } catch (error) {
      if (getCode(error) !== "EXDEV") throw toDiskFault(error);
      await this.copyTo(path);
    }
  }

  /** To another file system: the copy gets its name when it is whole. */
  private async copyTo(path: string): Promise<void> {
    const part = `${path}.${randomBytes(8).toString("hex")}.part`;
    try {
      await copyFile(this.path, part, constants.COPYFILE_EXCL);
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw toDiskFault(error);
    }
  }
}

function getCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Converts an error of the file system to an error with a status. Any other error stays as it is. */
function toDiskFault(error: unknown): unknown {
  if (FULL.has(getCode(error))) {
    return new FrameworkError("There is no space for the files.", { code: "E_UPLOAD_FULL", status: 507, cause: error });
  }
  const isOfDisk = error instanceof Error && "syscall" in error;
  if (!isOfDisk) return error;
  return new UnavailableError("The files cannot be stored at the moment.", { code: "E_UPLOAD_DISK", cause: error });
}
