/**
 * The id a request is known by in logs and at its client: the one it came with, where that is harmless, else a fresh UUID v4.
 * Harmless is 1 to 128 bytes of ASCII letters, digits and `- _ . : @ + / =`, so that it can stand in any log, header or URL as it is.
 *
 * Not a secret and not unique by itself: a client may send the same id twice.
 *
 * @example
 * RequestId.of(ctx)?.value; // "9b2f0a4e-…", where the request-id stage is on
 */
import type { IncomingMessage } from "node:http";
import { type Extensible, Extension } from "../http/extension.js";
import { RequestIdError } from "./request-id-error.js";
import { newUuid } from "./uuids.js";

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
