/**
 * The id of a request in logs and for its client: the id that the client sent, if it is valid, else a fresh UUID of version 4. A valid id
 * has 1 to 128 bytes, all of them ASCII letters, digits or `- _ . : @ + / =`, so that it is safe in every log, header and URL.
 *
 * It is not a secret, and it is not unique: a client may send the same id twice.
 *
 * @example
 * RequestId.of(ctx)?.value; // "9b2f0a4e-…", if the request-id stage is on
 */
import type { IncomingMessage } from "node:http";
import { type Extensible, Extension } from "../http/request/extension.js";
import { RandomBatch } from "../runtime/random-batch.js";
import { RequestIdError } from "./errors.js";

export const MAX_REQUEST_ID_BYTES = 128;
/** Request and response header. */
export const REQUEST_ID_HEADER = "x-request-id";

const IS_ALLOWED = createCharacterTable("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@+/=");
const extension = new Extension<RequestId>("RequestId");

const UUID_BYTES = 16;
const UUID_LENGTH = 36;
// An id that a program keeps also keeps the text of its batch: 576 bytes for 16.
const UUIDS_PER_BATCH = 16;
const DASH = 0x2d;
const DIGITS = Buffer.from("0123456789abcdef");
// Encoding a batch at once is faster than `crypto.randomUUID`, which joins twenty pieces of text for each UUID.
const uuids = RandomBatch.ofText(UUID_BYTES, UUIDS_PER_BATCH, formatUuids);

export class RequestId {
  private constructor(readonly value: string) {}

  /** A new UUID of version 4, in lower case with hyphens (RFC 9562 section 5.4). */
  static fresh(): RequestId {
    return new RequestId(uuids.next());
  }

  /** The id in a header value, or a fresh id if there is no value or it is not valid. Never throws, also not for values of other types. */
  static fromHeader(value: string | undefined): RequestId {
    return typeof value === "string" && isValid(value) ? new RequestId(value) : RequestId.fresh();
  }

  /** The id that the client sent, or a fresh id. Of a repeated header, the first value counts. */
  static fromRequest(request: Pick<IncomingMessage, "headers" | "headersDistinct">): RequestId {
    const value = request.headers[REQUEST_ID_HEADER];
    if (typeof value !== "string") return RequestId.fresh();
    // Node joins repeated values with commas. No valid id has a comma, so only then the values are split.
    return RequestId.fromHeader(value.includes(",") ? request.headersDistinct[REQUEST_ID_HEADER]?.[0] : value);
  }

  /** @throws RequestIdError Checks for an empty text first, then the size (in bytes of UTF-8), then the characters. */
  static parse(text: string): RequestId {
    if (text === "") throw new RequestIdError("empty");
    const size = Buffer.byteLength(text);
    if (size > MAX_REQUEST_ID_BYTES) throw new RequestIdError("too-large", { size, limit: MAX_REQUEST_ID_BYTES });
    if (!isValid(text)) throw new RequestIdError("invalid-char");
    return new RequestId(text);
  }

  /** The id of this request; `undefined` if the request-id stage is off. */
  static of(ctx: Extensible): RequestId | undefined {
    return extension.find(ctx);
  }

  /** @internal The stage calls it once for each request. */
  static set(ctx: Extensible, id: RequestId): void {
    extension.set(ctx, id);
  }

  toString(): string {
    return this.value;
  }
}

/** Each allowed character is one byte, so the length in characters is enough here. */
function isValid(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_REQUEST_ID_BYTES) return false;
  for (let at = 0; at < length; at++) if (IS_ALLOWED[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** A table by character code: 1 for each of `characters`. A code beyond ASCII reads as `undefined`. */
function createCharacterTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)] = 1;
  return table;
}

/** The texts of all UUIDs of a batch, one after the other. */
function formatUuids(bytes: Buffer): string {
  const text = Buffer.alloc((bytes.length / UUID_BYTES) * UUID_LENGTH, DASH);
  let to = 0;
  for (let from = 0; from < bytes.length; from++) {
    const index = from % UUID_BYTES;
    if (index === 4 || index === 6 || index === 8 || index === 10) to++;
    const byte = withVersionAndVariant(bytes[from] ?? 0, index);
    text[to++] = DIGITS[byte >> 4] ?? 0;
    text[to++] = DIGITS[byte & 0x0f] ?? 0;
  }
  return text.toString("latin1");
}

/** The version is in byte 6, the variant in byte 8. */
function withVersionAndVariant(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}
