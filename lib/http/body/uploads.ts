/**
 * The fields and files of a multipart form, as `ctx.uploads` returns them. The reader is `Uploads` of `@stagecraft/framework/uploads`,
 * because its parser is a package that few applications need.
 */
import type { Readable } from "node:stream";
import { FrameworkError } from "../../errors/framework-error.js";
import type { NestedFields } from "./form-fields.js";

/** A store of files, as `Storage` is one. */
export interface UploadStore<T> {
  put(key: string, content: Readable, options: UploadStoreOptions): Promise<T>;
}

export interface UploadStoreOptions {
  /** The media type, detected from the content. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  readonly visibility?: "private" | "public";
}

const SCRIPTABLE = "image/svg+xml";

/**
 * A file that a client has sent. It is stored in a temporary place and deleted after the response, unless `storeIn` or `moveTo` is called.
 * Its type is detected from the first bytes, so it does not vouch for the remaining bytes.
 */
export abstract class UploadedFile {
  /**
   * The name that the client sent, without folders and control characters. Show it as data; never use it as a path or a key. `""` for none.
   */
  abstract readonly name: string;
  /** Bytes. A file input that was left empty does not count as a file; a file of 0 bytes has a name. */
  abstract readonly size: number;
  /**
   * The media type of the content, for example `image/png`; `application/octet-stream` for an unknown one. The type that the client sent is
   * ignored.
   */
  abstract readonly type: string;
  /** The usual extension of the type with its dot, for example `.png`; `""` for an unknown type. */
  abstract readonly extension: string;

  /**
   * Whether the type is one of these: `image/png`, or `image/*` for all images except SVG, which may contain scripts; name `image/svg+xml`
   * to allow it.
   */
  hasType(...types: readonly string[]): boolean {
    const family = this.type === SCRIPTABLE ? "" : `${this.type.slice(0, this.type.indexOf("/"))}/*`;
    return types.some((type) => type === this.type || type === family);
  }

  /** The content. @throws FrameworkError `E_UPLOAD_GONE` after the response */
  abstract stream(): Readable;

  /** The whole content in memory. */
  abstract bytes(): Promise<Buffer>;

  /**
   * Stores the content under a random name below `folder`, with the extension of its type, and returns what the store returns.
   *
   * @throws the error of the store
   */
  abstract storeIn<T>(
    store: UploadStore<T>,
    folder: string,
    options?: Pick<UploadStoreOptions, "visibility">,
  ): Promise<T>;

  /** Moves the file to `path` of the file system and replaces a file there. It then stays after the response. */
  abstract moveTo(path: string): Promise<void>;

  /** The fields that a log or a response may show. */
  toJSON(): Readonly<Pick<UploadedFile, "name" | "size" | "type">> {
    const { name, size, type } = this;
    return { name, size, type };
  }
}

export type UploadValue = string | UploadedFile;

/**
 * The parts of a multipart form by name: a text, a file, or a list where the name was repeated; with brackets in the names also lists and
 * objects. Without prototypes.
 */
export type UploadFields = NestedFields<UploadValue>;

/** The limits of a multipart form. */
export interface UploadLimits {
  /** The maximum of bytes of the whole body; 16 777 216 (16 MiB) unless set. A body limit of the application applies too. Beyond: 413. */
  readonly bytes?: number;
  /** The maximum of bytes of a file; 8 388 608 (8 MiB) unless set. Beyond: 413. */
  readonly fileBytes?: number;
  /** The maximum of bytes of a text, which is stored in memory; 1 048 576 (1 MiB) unless set. Beyond: 413. */
  readonly fieldBytes?: number;
  /** The maximum of parts, files and texts together; 32 unless set. Beyond: 413. */
  readonly parts?: number;
  /** The maximum time from the call to the last byte, in milliseconds; 30 000 unless set. Beyond: 408. */
  readonly timeoutMs?: number;
  /** The maximum time without a byte, in milliseconds; 10 000 unless set. Beyond: 408. */
  readonly idleMs?: number;
}

/** The error where an application provides no `Uploads`. */
export const NO_UPLOADS = {
  readUploads: (): Promise<unknown> =>
    Promise.reject(
      new FrameworkError(
        "ctx.uploads has no reader: provide Uploads of @stagecraft/framework/uploads, which needs the package busboy",
        { code: "E_UPLOADS_MISSING" },
      ),
    ),
} as const;
