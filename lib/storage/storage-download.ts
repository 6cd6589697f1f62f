/**
 * The response that sends a stored file: 200, 206 or 304, and as errors 404, 412 and 416 (RFC 9110 sections 13 to 15).
 *
 * A stored file comes from a client, so the response prevents a browser from running it with the rights of the site: the file is saved and
 * not shown, its type is not guessed, and a document that is shown nevertheless is sandboxed.
 */
import type { Readable } from "node:stream";
import { FrameworkError } from "../errors/framework-error.js";
import { formatContentDisposition } from "../http/response/content-disposition.js";
import {
  evaluateConditions,
  isRangeCurrent,
  toModifiedSeconds,
  readRange,
  type Validators,
  formatHttpDate,
} from "../http/response/conditions.js";
import { Reply } from "../http/response/reply.js";
import { StorageRangeError, StoredFileMissingError } from "./storage-errors.js";
import type { OpenedFile, StorageRange, StoredFile } from "./storage-files.js";
import type { ScopeRequest } from "../lifecycle/work-scope.js";

/** A file whole, a range of it, or no bytes where it has not changed. */
export type DownloadReply = Reply<200 | 206 | 304, Readable | Uint8Array | undefined>;

export interface StorageDownloadOptions {
  /** The name for the client's disk. The name may come from a client: unsafe characters are removed. */
  readonly name?: string;
  /** Lets a browser show the file, in a sandbox. False unless set. */
  readonly inline?: boolean;
  /** The request, with its ranges and conditions: `ctx`. That of the running handler unless set. */
  readonly request?: ScopeRequest;
}

/** The part of a storage that a download needs. */
export interface DownloadSource {
  stat(key: string): Promise<StoredFile | undefined>;
  get(key: string, options: { readonly range?: StorageRange }): Promise<OpenedFile>;
}

const CONDITIONS = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;
/** The attempts to open the version that the conditions were compared with. */
const MAX_TRIES = 4;

/** @param disposition the value of `Content-Disposition` */
export async function createDownloadReply(
  source: DownloadSource,
  key: string,
  disposition: string,
  request: ScopeRequest | undefined,
): Promise<DownloadReply> {
  if (request !== undefined && isConditional(request)) {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const reply = await createConditionalReply(source, key, disposition, request);
      if (reply !== undefined) return reply;
    }
  }
  return createReply(await source.get(key, {}), disposition);
}

/** Other requests need no description before the file is opened. */
function isConditional({ method, headers }: ScopeRequest): boolean {
  return method === "HEAD" || CONDITIONS.some((name) => headers[name] !== undefined);
}

/** `undefined` if the file was replaced in the meantime. */
async function createConditionalReply(
  source: DownloadSource,
  key: string,
  disposition: string,
  { method, headers }: ScopeRequest,
): Promise<DownloadReply | undefined> {
  const file = await source.stat(key);
  if (file === undefined) throw new StoredFileMissingError();
  const validators = toValidators(file);
  const outcome = evaluateConditions(headers, validators);
  if (outcome === 412)
    throw new FrameworkError("The file is not in the expected state.", { code: "E_STORAGE_PRECONDITION", status: 412 });
  if (outcome === 304) return withFileHeaders(Reply.empty(304), file, disposition);
  if (method === "HEAD") return withLength(withFileHeaders(Reply.empty(200), file, disposition), file.size);
  const range = isRangeCurrent(headers, validators) ? readRange(headers.range, file.size) : undefined;
  if (range === "unsatisfiable") throw new StorageRangeError(file.size);
  const opened = await source.get(key, range === undefined ? {} : { range });
  if (opened.file.etag === file.etag) return createReply(opened, disposition, range);
  opened.body.destroy();
  return undefined;
}

/** @param name of the file for the client; without one the client takes the last part of the URL */
export function toDisposition({ name, inline }: StorageDownloadOptions): string {
  return formatContentDisposition(name, inline === true);
}

function createReply({ file, body }: OpenedFile, disposition: string, range?: Required<StorageRange>): DownloadReply {
  // The response waits a short time for the first chunk of a stream, which an empty stream does not have.
  if (file.size === 0) body.destroy();
  const whole = withFileHeaders(Reply.of(file.size === 0 ? new Uint8Array() : body, file.type), file, disposition);
  if (range === undefined) return withLength(whole, file.size);
  const { first, length } = range;
  return withLength(whole.status(206), length).header(
    "Content-Range",
    `bytes ${first}-${first + length - 1}/${file.size}`,
  );
}

function withFileHeaders<S extends number, B>(reply: Reply<S, B>, file: StoredFile, disposition: string): Reply<S, B> {
  return reply
    .header("Content-Type", file.type)
    .header("Content-Disposition", disposition)
    .header("X-Content-Type-Options", "nosniff")
    .header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header("Cache-Control", file.visibility === "public" ? "no-cache" : "private, no-cache")
    .header("ETag", file.etag)
    .header("Last-Modified", toValidators(file).lastModified);
}

function withLength<S extends number, B>(reply: Reply<S, B>, length: number): Reply<S, B> {
  return reply.header("Accept-Ranges", "bytes").header("Content-Length", String(length));
}

function toValidators({ etag, modified: date }: StoredFile): Validators {
  const modified = toModifiedSeconds(date.getTime());
  return { etag, modified, lastModified: formatHttpDate(modified) };
}
