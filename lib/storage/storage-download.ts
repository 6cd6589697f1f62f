/**
 * The answer that sends a stored file: 200, 206 or 304, and as errors 404, 412 and 416 (RFC 9110 sections 13 to 15).
 *
 * A stored file comes from a client, so the answer keeps a browser from running it in the name of the site: the file is saved and not
 * shown, its type is not guessed, and a document that is shown nevertheless is sandboxed.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { contentDisposition } from "../http/response/content-disposition.js";
import {
  evaluateConditions,
  isRangeCurrent,
  modifiedSeconds,
  readRange,
  type Validators,
  writeHttpDate,
} from "../http/response/conditions.js";
import { Reply } from "../http/response/reply.js";
import { StorageRangeError, StoredFileMissingError } from "./storage-errors.js";
import type { OpenedFile, StorageRange, StoredFile } from "./storage-files.js";
import type { AskingRequest } from "../lifecycle/work-scope.js";

export interface StorageDownloadOptions {
  /** The name for the client's disk. A name that a client gave is made safe. */
  readonly name?: string;
  /** Lets a browser show the file, in a sandbox. False unless set. */
  readonly inline?: boolean;
  /** The request, with its ranges and conditions: `ctx`. That of the running handler unless set. */
  readonly request?: AskingRequest;
}

/** What a download needs of a storage. */
export interface DownloadSource {
  stat(key: string): Promise<StoredFile | undefined>;
  get(key: string, options: { readonly range?: StorageRange }): Promise<OpenedFile>;
}

const CONDITIONS = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;
/** The attempts to open the version that the conditions were compared with. */
const TRIES = 4;

/** @param disposition the value of `Content-Disposition` */
export async function downloadReply(
  source: DownloadSource,
  key: string,
  disposition: string,
  request: AskingRequest | undefined,
): Promise<Reply> {
  if (request !== undefined && isConditional(request)) {
    for (let tries = 1; tries <= TRIES; tries++) {
      const answer = await conditionalReply(source, key, disposition, request);
      if (answer !== undefined) return answer;
    }
  }
  return reply(await source.get(key, {}), disposition);
}

/** Other requests need no description before the file is opened. */
function isConditional({ method, headers }: AskingRequest): boolean {
  return method === "HEAD" || CONDITIONS.some((name) => headers[name] !== undefined);
}

/** `undefined` if the file was replaced in the meantime. */
async function conditionalReply(
  source: DownloadSource,
  key: string,
  disposition: string,
  { method, headers }: AskingRequest,
): Promise<Reply | undefined> {
  const file = await source.stat(key);
  if (file === undefined) throw new StoredFileMissingError();
  const validators = validatorsOf(file);
  const outcome = evaluateConditions(headers, validators);
  if (outcome === 412) throw preconditionFailed();
  if (outcome === 304) return described(Reply.empty(304), file, disposition);
  if (method === "HEAD") return withLength(described(Reply.empty(200), file, disposition), file.size);
  const range = isRangeCurrent(headers, validators) ? readRange(headers.range, file.size) : undefined;
  if (range === "unsatisfiable") throw new StorageRangeError(file.size);
  const opened = await source.get(key, range === undefined ? {} : { range });
  if (opened.file.etag === file.etag) return reply(opened, disposition, range);
  opened.body.destroy();
  return undefined;
}

/** @param name of the file for the client; without one the client takes the last part of the URL */
export function dispositionOf({ name, inline }: StorageDownloadOptions): string {
  return contentDisposition(name, inline === true);
}

function reply({ file, body }: OpenedFile, disposition: string, range?: Required<StorageRange>): Reply {
  // The answer waits a short time for the first chunk of a stream, which an empty stream does not have.
  if (file.size === 0) body.destroy();
  const whole = described(Reply.of(file.size === 0 ? "" : body, file.type), file, disposition);
  if (range === undefined) return withLength(whole, file.size);
  const { first, length } = range;
  return withLength(whole.status(206), length).header(
    "Content-Range",
    `bytes ${first}-${first + length - 1}/${file.size}`,
  );
}

function described(answer: Reply, file: StoredFile, disposition: string): Reply {
  return answer
    .header("Content-Type", file.type)
    .header("Content-Disposition", disposition)
    .header("X-Content-Type-Options", "nosniff")
    .header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header("Cache-Control", file.visibility === "public" ? "no-cache" : "private, no-cache")
    .header("ETag", file.etag)
    .header("Last-Modified", validatorsOf(file).lastModified);
}

function withLength(answer: Reply, length: number): Reply {
  return answer.header("Accept-Ranges", "bytes").header("Content-Length", String(length));
}

function validatorsOf({ etag, modified: date }: StoredFile): Validators {
  const modified = modifiedSeconds(date.getTime());
  return { etag, modified, lastModified: writeHttpDate(modified) };
}

function preconditionFailed(): FrameworkError {
  return new FrameworkError("The file is not in the expected state.", { code: "E_STORAGE_PRECONDITION", status: 412 });
}
