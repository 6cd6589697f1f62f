/**
 * The id a request is known by in logs and at its client: the one it came with, where that is harmless, else a fresh UUID v4.
 * Harmless is 1 to 128 bytes of ASCII letters, digits and `- _ . : @ + / =`, so that it can stand in any log, header or URL as it is.
 *
 * Not a secret and not unique by itself: a client may send the same id twice.
 *
 * @example
 * RequestId.of(ctx)?.value; // "9b2f0a4e-…", where the request-id stage is on
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Extensible, Extension } from "../http/extension.js";
import { RequestIdError } from "./errors.js";

/**
 * Random UUIDs, version 4, in lower case (RFC 9562 section 5.4). Drawn from the system's generator and written out many at a time: a draw
 * is a system call, and Node puts each UUID together from twenty pieces of text.
 *
 * Not for secrets: the next ones lie in memory as text already.
 */
// Whoever keeps one id keeps its batch: 16 are a page of 576 bytes.
const BATCH = 16;
const BYTES = 16;
const LENGTH = 36;
const DASH = 0x2d;
const DIGITS = Buffer.from("0123456789abcdef");

// Like the generator behind it, the batch belongs to the process; it is filled by the first draw, not by the import.
let batch = "";
let used = 0;

export function newUuid(): string {
  if (used === batch.length) {
    batch = written(randomBytes(BATCH * BYTES));
    used = 0;
  }
  used += LENGTH;
  return batch.slice(used - LENGTH, used);
}

function written(bytes: Buffer): string {
  const text = Buffer.alloc((bytes.length / BYTES) * LENGTH, DASH);
  let to = 0;
  for (let at = 0; at < bytes.length; at++) {
    const place = at % BYTES;
    if (place === 4 || place === 6 || place === 8 || place === 10) to++;
    const byte = marked(bytes[at] ?? 0, place);
    text[to++] = DIGITS[byte >> 4] ?? 0;
    text[to++] = DIGITS[byte & 0x0f] ?? 0;
  }
  return text.toString("latin1");
}

/** The version stands in byte 6, the variant in byte 8. */
function marked(byte: number, place: number): number {
  if (place === 6) return (byte & 0x0f) | 0x40;
  return place === 8 ? (byte & 0x3f) | 0x80 : byte;
}

export const MAX_REQUEST_ID_BYTES = 128;
/** Request and response header. */
export const REQUEST_ID_HEADER = "x-request-id";

const ALLOWED = allow("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@+/=");
const extension = new Extension<RequestId>("RequestId");

export class RequestId {
  private constructor(readonly value: string) {}

  /** A new one: UUID v4, lower case with hyphens (RFC 9562 section 5.4). */
  static fresh(): RequestId {
    return new RequestId(newUuid());
  }

  /** The id of a header value, or a fresh one where there is none or it is not valid as it stands. Never throws, whatever it is given. */
  static fromHeader(value: string | undefined): RequestId {
    return typeof value === "string" && isValid(value) ? new RequestId(value) : RequestId.fresh();
  }

  /** The id a request came with, of a repeated header the first value, or a fresh one. */
  static fromRequest(request: Pick<IncomingMessage, "headers" | "headersDistinct">): RequestId {
    const value = request.headers[REQUEST_ID_HEADER];
    if (typeof value !== "string") return RequestId.fresh();
    // Repeated values come joined with commas, which no id has; taking them apart is worth it only then.
    return RequestId.fromHeader(value.includes(",") ? request.headersDistinct[REQUEST_ID_HEADER]?.[0] : value);
  }

  /** @throws RequestIdError saying why; emptiness is looked at before length, length (in bytes of UTF-8) before characters. */
  static parse(text: string): RequestId {
    if (text === "") throw new RequestIdError("empty");
    const size = Buffer.byteLength(text);
    if (size > MAX_REQUEST_ID_BYTES) throw new RequestIdError("too-large", { size, limit: MAX_REQUEST_ID_BYTES });
    if (!isValid(text)) throw new RequestIdError("invalid-char");
    return new RequestId(text);
  }

  /** The id of this request; `undefined` where the request-id stage is off. */
  static of(ctx: Extensible): RequestId | undefined {
    return extension.find(ctx);
  }

  /** @internal Called once a request, by the stage. */
  static set(ctx: Extensible, id: RequestId): void {
    extension.set(ctx, id);
  }

  toString(): string {
    return this.value;
  }
}

/** Everything allowed is one byte, so the length in characters is enough here. */
function isValid(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_REQUEST_ID_BYTES) return false;
  for (let at = 0; at < length; at++) if (ALLOWED[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** A table of bytes; what lies beyond it reads as `undefined`. */
function allow(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)] = 1;
  return table;
}
