/**
 * The options of the operations of a storage, and their checks. Not for the options of a driver: those are in the file of the driver.
 */
import { BadRequestError, FrameworkError } from "../errors/framework-error.js";
import type { OptionNames } from "../errors/option-names.js";
import type { StorageRange, StorageVisibility } from "./storage-files.js";

export interface StorageOptions {
  /** Aborts the work, like the signal of the request. */
  readonly signal?: AbortSignal;
}

export interface StoragePutOptions extends StorageOptions {
  /** The media type; `application/octet-stream` unless set. A type that a client declared is a claim, not a fact. */
  readonly type?: string;
  /** The exact number of bytes. It saves S3 the parts, and content of another size is refused. */
  readonly size?: number;
  /** `private` unless set. */
  readonly visibility?: StorageVisibility;
  /** Short texts beside the file: names in lower case, values in ASCII, at most 1024 characters together. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface StorageGetOptions extends StorageOptions {
  readonly range?: StorageRange;
}

export interface StorageCopyOptions extends StorageOptions {
  /** That of the original unless set. */
  readonly visibility?: StorageVisibility;
}

export interface StorageListOptions extends StorageOptions {
  /** 1 to 1000; 1000 unless set. */
  readonly limit?: number;
  /** That of the listing before. */
  readonly cursor?: string;
}

export interface SignedUrlOptions {
  /** The lifetime in milliseconds: from 1000 to 604 800 000, which is a week, the longest of S3. */
  readonly expiresMs: number;
  /** The name for the client's disk. */
  readonly name?: string;
  /** Lets a browser show the file. False unless set. */
  readonly inline?: boolean;
}

export interface SignedUploadOptions {
  /** The lifetime in milliseconds: from 1000 to 604 800 000. */
  readonly expiresMs: number;
  /** The only media type that the client may send. */
  readonly type: string;
  /** The only number of bytes that the client may send. */
  readonly size: number;
}

export const URL_NAMES: OptionNames<SignedUrlOptions> = { expiresMs: true, name: true, inline: true };
export const UPLOAD_NAMES: OptionNames<SignedUploadOptions> = { expiresMs: true, type: true, size: true };
export const PUT_NAMES: OptionNames<StoragePutOptions> = {
  type: true,
  size: true,
  visibility: true,
  metadata: true,
  signal: true,
};
export const GET_NAMES: OptionNames<StorageGetOptions> = { range: true, signal: true };
export const COPY_NAMES: OptionNames<StorageCopyOptions> = { visibility: true, signal: true };
export const LIST_NAMES: OptionNames<StorageListOptions> = { limit: true, cursor: true, signal: true };
export const ONLY_SIGNAL_NAMES: OptionNames<StorageOptions> = { signal: true };

const MAX_LISTED = 1000;
const MAX_CURSOR = 4096;
const MAX_URL_LIFETIME_MS = 604_800_000;

// JavaScript callers may pass anything.
export function checkVisibility(visibility: unknown): void {
  if (visibility === "private" || visibility === "public") return;
  throw wrongOption('the visibility of a stored file is "private" or "public"');
}

export function checkSize(size: number | undefined): void {
  if (size === undefined || (Number.isSafeInteger(size) && size >= 0)) return;
  throw new BadRequestError("the size of the content is a whole number of bytes", { code: "E_STORAGE_SIZE" });
}

export function checkRange(range: StorageRange | undefined): void {
  if (range === undefined) return;
  const { first, length = 1 } = range;
  if (Number.isSafeInteger(first) && first >= 0 && Number.isSafeInteger(length) && length > 0) return;
  throw wrongOption("a range starts at byte 0 or later and has at least one byte");
}

function wrongOption(rule: string): FrameworkError {
  return new FrameworkError(rule, { code: "E_STORAGE_OPTION" });
}

/** @throws BadRequestError `E_STORAGE_LIST` */
export function checkListing({ limit = MAX_LISTED, cursor }: StorageListOptions): {
  readonly limit: number;
  readonly cursor: string | undefined;
} {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw wrongListing(`the limit of a listing is a whole number from 1 to ${MAX_LISTED}`);
  if (cursor !== undefined && (typeof cursor !== "string" || cursor === "" || cursor.length > MAX_CURSOR))
    throw wrongListing("the cursor of a listing is that of the listing before");
  return { limit, cursor };
}

function wrongListing(rule: string): BadRequestError {
  return new BadRequestError(rule, { code: "E_STORAGE_LIST" });
}

/** The moment at which a URL expires. @throws FrameworkError `E_STORAGE_OPTION` */
export function toDeadline(now: number, expiresMs: number): Date {
  if (Number.isInteger(expiresMs) && expiresMs >= 1000 && expiresMs <= MAX_URL_LIFETIME_MS)
    return new Date(now + expiresMs);
  throw wrongOption(`the lifetime of a signed URL is 1000 to ${MAX_URL_LIFETIME_MS} milliseconds`);
}
