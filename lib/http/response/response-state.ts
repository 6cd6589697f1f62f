/**
 * The state of the response to one request before it becomes a head and bytes: status, body, media type and phase. `Exchange` adds the
 * request to it, and `Context` adds the public accessors; all three are one object. Applications use `Context`.
 *
 * The response stays here until `send` writes it, so that it costs one write. Status and headers that were set are on Node's response at
 * once. Body and media type are copied there as soon as the application asks for Node's response or for Koa's.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { isStream, ignoreEarlyErrors } from "./body-stream.js";
import { isAsyncIterable } from "./iterable-stream.js";
import { detachResponse } from "./detached-response.js";
import { isPlainData } from "./json-text.js";
import { BYTES, JSON_TYPE, TEXT } from "./media-type.js";
import { isBlob, isBytes, isResponse, isWebStream } from "./web-values.js";

/** A copy of the headers, from which they can be restored. `undefined` if none was set. */
export type HeadSnapshot = Readonly<Record<string, number | string | string[] | undefined>> | undefined;

/**
 * The phase of a response.
 * - `open`: the handler and the stages may change it;
 * - `decided`: a stage has responded in the handler's place, and only stages may change it;
 * - `sent`: the head is sent;
 * - `closed`: Node has the whole response, or the client has left.
 */
export type Phase = "open" | "decided" | "sent" | "closed";

/**
 * The writer of Node's response.
 * - `framework`: the application does not have the response;
 * - `shared`: the application has it too, and may write the head or the whole response;
 * - `by hand`: the application alone writes it (Koa's `ctx.respond = false`).
 */
export type Writer = "framework" | "shared" | "by hand";

/** The reason why a response is closed. */
export type EndReason = "handed over" | "client gone";

export abstract class ResponseState {
  /** The body. `settleBody` converts it into text, bytes or a Node stream. @internal */
  payload: unknown = undefined;
  /**
   * The body, if other responses have the same bytes: those of a static file, or of the API document. An application that reads the body gets a copy.
   * @internal
   */
  sharedBytes: Uint8Array | undefined = undefined;
  /** The media type that follows from the body. A `Content-Type` that was set takes precedence. @internal */
  inferredType: string | undefined = undefined;
  /** A returned value that an outer stage converts into the response: a redirect, a page. @internal */
  deferred: unknown = undefined;
  /** An error that a callback reported through Koa's `onerror`. The error boundary throws it. @internal */
  lateError: { readonly error: unknown } | undefined = undefined;
  /** The status that was set. Where it is `undefined`, Node's response has 404, or 200 with a body. @internal */
  givenStatus: number | undefined = undefined;

  protected endReason: EndReason | undefined = undefined;
  private writer: Writer = "framework";
  /** The reason why a stage has responded in the handler's place. */
  private decisionReason: Error | undefined = undefined;

  /** Whether the application may have written a part of the body to Node's response. @internal */
  bodyMayBeStarted = true;
  /** Node's response as the application sees it, once the framework writes through another object. */
  protected detached: ServerResponse | undefined = undefined;
  private mirroredType: string | undefined = undefined;

  /** @internal */
  constructor(
    /** Node's response. @internal */
    public raw: ServerResponse,
  ) {
    raw.statusCode = 404;
  }

  // --- status and body ---

  /** @internal */
  setStatus(code: number): void {
    this.raw.statusCode = code;
    this.givenStatus = code;
  }

  /** Replaces the body. A stream that was the body before is destroyed. @internal */
  setBody(value: unknown, type = this.chooseType(value)): void {
    const { raw } = this;
    const before = this.payload;
    if (before !== undefined && before !== value) discard(before, value);
    if (value instanceof Uint8Array) this.payload = toBuffer(value);
    else {
      this.payload = value;
      if (before !== value && typeof value === "object" && isStream(value)) ignoreEarlyErrors(value);
    }
    // A head that is sent stays as it is.
    if (this.headIsSent) return;
    // Middleware for Koa sets the length of a stream before the stream itself.
    if (raw.hasHeader("content-length") && (before !== undefined || !isStreamLike(value)))
      raw.removeHeader("content-length");
    if (this.givenStatus === undefined) raw.statusCode = 200;
    this.inferredType = type;
    if (this.isExposed) this.mirror();
  }

  /**
   * As in Koa, a new body keeps the media type of the body before it, unless the new body is JSON. It is mostly the same body, changed or
   * encoded.
   */
  private chooseType(value: unknown): string | undefined {
    const type = inferType(value);
    return this.inferredType === undefined || type === JSON_TYPE ? type : this.inferredType;
  }

  /** Returns the body for the application, which may change it: shared bytes are copied first. @internal */
  getMutablePayload(): unknown {
    const { sharedBytes } = this;
    if (sharedBytes !== undefined && this.payload === sharedBytes) this.payload = Buffer.from(sharedBytes);
    return this.payload;
  }

  /** Removes the body and the headers that describe it. The status stays. @internal */
  clearBody(): void {
    const before = this.payload;
    if (before !== undefined) discard(before, undefined);
    this.payload = undefined;
    this.inferredType = undefined;
    const { raw } = this;
    for (const name of BODY_HEADERS) if (raw.hasHeader(name)) raw.removeHeader(name);
  }

  /** Whether there is a response to send: a body, a status, a deferred value, or a head that was written by hand. @internal */
  get hasResponse(): boolean {
    if (this.payload !== undefined || this.givenStatus !== undefined) return true;
    return this.deferred !== undefined || this.headIsSent;
  }

  // --- the head ---

  /** @internal */
  takeHeadSnapshot(): HeadSnapshot {
    const { raw } = this;
    return raw.getHeaderNames().length === 0 ? undefined : { ...raw.getHeaders() };
  }

  /** @internal */
  restoreHead(snapshot: HeadSnapshot): void {
    const { raw } = this;
    for (const name of raw.getHeaderNames()) raw.removeHeader(name);
    for (const name in snapshot) {
      const value = snapshot[name];
      if (value !== undefined) raw.setHeader(name, value);
    }
    raw.statusMessage = "";
  }

  /** Copies media type and length to Node's response, where Koa's accessors read them. @internal */
  mirror(): void {
    const { raw, payload } = this;
    if (this.headIsSent) return;
    this.mirrorType();
    if (raw.hasHeader("Content-Length") || raw.hasHeader("Transfer-Encoding")) return;
    const length = getBodyLength(payload);
    if (length !== undefined) raw.setHeader("Content-Length", length);
  }

  /** A `Content-Type` that the application set stays. The type of the previous body is replaced. */
  private mirrorType(): void {
    const { raw, inferredType } = this;
    if (inferredType === undefined) return;
    const present = raw.getHeader("Content-Type");
    if (present !== undefined && present !== this.mirroredType) return;
    raw.setHeader("Content-Type", inferredType);
    this.mirroredType = inferredType;
  }

  // --- the phase and the writer ---

  /** Computed, because only Node knows whether the head is sent: the application may have written it by hand. @internal */
  get phase(): Phase {
    if (this.endReason !== undefined) return "closed";
    if (this.headIsSent) return "sent";
    return this.decisionReason === undefined ? "open" : "decided";
  }

  /** Whether the application may still change the response. False once a stage has responded in its place. @internal */
  get mayChange(): boolean {
    return this.decisionReason === undefined;
  }

  /** Whether a status or a header that the application sets has an effect. @internal */
  get headMayChange(): boolean {
    return this.mayChange && !this.headIsSent;
  }

  /** @internal */
  get headIsSent(): boolean {
    return this.raw.headersSent;
  }

  /** Whether the client left before Node had the whole response. @internal */
  get isClientGone(): boolean {
    return this.endReason === "client gone";
  }

  /** Whether later work of the handler cannot reach the client: a stage has responded in its place, or the client has left. @internal */
  get isAbandoned(): boolean {
    return !this.mayChange || this.isClientGone;
  }

  /** Whether the application has Node's response. The head is then completed when Node writes it. @internal */
  get isExposed(): boolean {
    return this.writer !== "framework";
  }

  /** Whether the application alone writes the response. @internal */
  get isWrittenByHand(): boolean {
    return this.writer === "by hand";
  }

  /** Records that the application has Node's response. @internal */
  share(): void {
    this.writer = "shared";
    this.detachIfDecided();
  }

  /** Records that the application, which has Node's response, writes it alone. @internal */
  leaveToApplication(): void {
    this.writer = "by hand";
  }

  /**
   * Decides the response in the handler's place. Later writes of the handler have no effect; stages may still change the response.
   * @internal
   */
  decide(reason: Error): void {
    this.decisionReason = reason;
    this.deferred = undefined;
    if (this.isExposed) this.share();
  }

  private detachIfDecided(): void {
    if (this.detached !== undefined || this.decisionReason === undefined) return;
    this.detached = this.raw;
    this.raw = detachResponse(this.raw, this.decisionReason);
  }
}

// In lower case, as Node stores them, so that Node need not convert them.
const BODY_HEADERS = ["content-type", "content-length", "transfer-encoding"] as const;

/** Returns the length in bytes of a body that is text, bytes or a blob; `undefined` for any other body. @internal */
export function getBodyLength(payload: unknown): number | undefined {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return isBlob(payload) ? payload.size : undefined;
}

/** The media type of a body that has none; `undefined` without a body. @internal */
export function inferType(value: unknown): string | undefined {
  if (typeof value === "string") return TEXT;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !isPlainData(value)) {
    // The headers of a fetch `Response` name its type and take precedence.
    if (isBytes(value) || isStreamLike(value) || isResponse(value)) return BYTES;
    if (isBlob(value)) return value.type === "" ? BYTES : value.type;
  }
  return JSON_TYPE;
}

/** Whether the value is a body of unknown length. */
function isStreamLike(value: unknown): boolean {
  return isStream(value) || isWebStream(value) || isAsyncIterable(value);
}

/** Middleware written for Koa expects bytes as a `Buffer`, and takes any other object for JSON. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function discard(before: unknown, after: unknown): void {
  if (!isStream(before)) return;
  if (isStream(after)) {
    destroyTogether(before, after);
  } else {
    before.once("error", () => {});
    before.destroy();
  }
}

/**
 * A stream that replaces another one nearly always reads from it. When the new stream closes, the old one is destroyed, which `pipe` does
 * not do.
 */
function destroyTogether(before: Readable, after: Readable): void {
  before.once("error", (error) => after.destroy(error));
  after.once("close", () => before.destroy());
}
