/**
 * The port of the drivers of a storage. `Storage` checks keys and options, follows the request's signal and reports; a driver only moves
 * bytes.
 *
 * A driver stores a file whole or not at all: a reader sees the old content or the new one, never a part, and after a failure nothing of
 * the new content stays behind. A driver puts no key and no content into the errors that it throws, because errors are logged.
 *
 * @example
 * class GoogleFiles implements StorageFiles { … }
 * export class GoogleStorage extends Storage { protected readonly files = new GoogleFiles(this.options); … }
 */
import type { Readable } from "node:stream";
import { StorageRangeError } from "./storage-errors.js";

/** `public`: a client may read the file by a URL without a signature. `private`: only the application and signed URLs serve it. */
export type StorageVisibility = "private" | "public";

/** A file as it was at one moment. */
export interface StoredFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** The media type that was given with `put`; never guessed from the content. */
  readonly type: string;
  /** A strong entity tag with its quotes: another content has another one (RFC 9110 section 8.8.3). */
  readonly etag: string;
  readonly modified: Date;
  readonly visibility: StorageVisibility;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A file in a listing, which costs less than its whole description. */
export type ListedFile = Pick<StoredFile, "key" | "size" | "modified">;

export interface StorageListing {
  /** In the order of the UTF-8 bytes of their keys. */
  readonly files: readonly ListedFile[];
  /** Continues the listing after the last file; `undefined` at its end. */
  readonly cursor: string | undefined;
}

/** A part of a file in bytes; without `length` up to its end. */
export interface StorageRange {
  readonly first: number;
  readonly length?: number;
}

/** A file that is being read. The reader reads `body` to its end or destroys it. */
export interface OpenedFile {
  readonly file: StoredFile;
  /** The bytes of the file, or of the range. */
  readonly body: Readable;
}

/** New content, checked. */
export interface StorageContent {
  readonly source: Uint8Array | AsyncIterable<Uint8Array>;
  /** The exact number of bytes, if it is known; the source fails if it has more or fewer. */
  readonly size: number | undefined;
  readonly type: string;
  readonly visibility: StorageVisibility;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface SignedDownload {
  /** The moment at which the URL expires. */
  readonly expires: Date;
  /** The value of `Content-Disposition`. */
  readonly disposition: string;
}

export interface SignedUploadTerms {
  readonly expires: Date;
  readonly type: string;
  readonly size: number;
}

/** A request that a client may send in the place of the application: to upload one file of one size and type. */
export interface SignedUpload {
  readonly method: "PUT";
  readonly url: string;
  /** All of them must be sent as they are. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The requests that a valid signature allows. */
export interface SignedTerms {
  readonly disposition: string | undefined;
  readonly type: string | undefined;
  readonly size: number | undefined;
}

/** URLs that the application itself serves. */
export interface ServedUrls {
  /** `undefined` for a target without a signature. @throws ForbiddenError for a wrong or expired one */
  verify(method: string, target: string, now: number): SignedTerms | undefined;
}

/** Every method gets checked keys. `signal` aborts the work; the method then rejects with its reason. */
export interface StorageFiles {
  /** The URLs of this storage, if the application itself serves them. */
  readonly urls?: ServedUrls | undefined;
  write(key: string, content: StorageContent, signal: AbortSignal | undefined): Promise<StoredFile>;
  /** `undefined` if there is no file. @throws StorageRangeError if the range starts behind the end */
  open(key: string, range: StorageRange | undefined, signal: AbortSignal | undefined): Promise<OpenedFile | undefined>;
  stat(key: string, signal: AbortSignal | undefined): Promise<StoredFile | undefined>;
  /** @param limit 1 to 1000 */
  list(
    prefix: string,
    limit: number,
    cursor: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<StorageListing>;
  /** Does nothing if there is no file. */
  delete(key: string, signal: AbortSignal | undefined): Promise<void>;
  /** `undefined` if there is no file. Without `visibility` the copy has that of the original. */
  copy(
    from: string,
    to: string,
    visibility: StorageVisibility | undefined,
    signal: AbortSignal | undefined,
  ): Promise<StoredFile | undefined>;
  /** Like `copy`, but removes the original. */
  move(
    from: string,
    to: string,
    visibility: StorageVisibility | undefined,
    signal: AbortSignal | undefined,
  ): Promise<StoredFile | undefined>;
  /** The URL of a public file. @throws FrameworkError `E_STORAGE_URL` if the storage has none */
  publicUrl(key: string): string;
  signedUrl(key: string, download: SignedDownload): Promise<string>;
  signedUpload(key: string, terms: SignedUploadTerms): Promise<SignedUpload>;
}

/** The section of a file of `size` bytes that a range names. A range may extend beyond the end. @throws StorageRangeError */
export function resolveRange(range: StorageRange | undefined, size: number): Required<StorageRange> {
  if (range === undefined) return { first: 0, length: size };
  const { first, length = Infinity } = range;
  if (first >= size) throw new StorageRangeError(size);
  return { first, length: Math.min(length, size - first) };
}

/** The order of the UTF-8 bytes, in which S3 lists. The default order of JavaScript differs beyond the Basic Multilingual Plane. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
