/**
 * The answer to one request, before it becomes a head and bytes: status, body, media type, and how far it has come. `Exchange` adds
 * the request to it, and `Context` the public accessors; all three are one object. Not for applications, which use `Context`.
 *
 * The answer stays here until the end (`send`), so that it costs one write. Status and headers that were set live on Node's
 * response. Body and type follow them there as soon as the application asks for Node's response or for Koa's.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { isStream, ignoreEarlyErrors } from "./body-stream.js";
import { isAsyncIterable } from "./iterable-stream.js";
import { detachResponse } from "./detached-response.js";
import { BYTES, JSON_TYPE, TEXT } from "./media-type.js";
import { isBlob, isBytes, isResponse, isWebStream } from "./web-values.js";

/** A copy of the headers, so that they can be restored; `undefined` if there were none. */
export type HeadSnapshot = Readonly<Record<string, number | string | string[] | undefined>> | undefined;

/**
 * How far an answer has come.
 * - `open`: the handler and the stages may write it;
 * - `decided`: a stage has answered in the handler's place, only stages may write it;
 * - `sent`: the head is out;
 * - `over`: the answer is handed over, or the client has left.
 */
export type Phase = "open" | "decided" | "sent" | "over";

/**
 * Who writes Node's response.
 * - `framework`: nothing else holds it;
 * - `shared`: the application holds it too, and may write the head or the whole answer;
 * - `by hand`: the application alone (Koa's `ctx.respond = false`).
 */
export type Writer = "framework" | "shared" | "by hand";

/** Why an answer is over. */
export type EndReason = "handed over" | "client gone";

export abstract class ResponseState {
  /** The body. `settleBody` turns it into text, bytes or a Node stream. @internal */
  payload: unknown = undefined;
  /** The body, where other answers share its bytes. An application that asks for it gets a copy. @internal */
  sharedBytes: Uint8Array | undefined = undefined;
  /** The media type that follows from the body. A `Content-Type` that was set goes before it. @internal */
  inferredType: string | undefined = undefined;
  /** A returned value that an outer stage turns into the answer: a redirect, a page. @internal */
  deferred: unknown = undefined;
  /** An error that a callback reported through Koa's `onerror`; the error boundary throws it. @internal */
  lateError: { readonly error: unknown } | undefined = undefined;
  /** The status that was set. `undefined` if none was set: then Node's response has 404, or 200 with a body. @internal */
  givenStatus: number | undefined = undefined;

  protected endReason: EndReason | undefined = undefined;
  private writer: Writer = "framework";
  /** Why a stage has answered in the handler's place. */
  private decisionReason: Error | undefined = undefined;

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

  /** Puts a body in place of the one before, which is destroyed if it was a stream. @internal */
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
    if (this.isShared) this.mirror();
  }

  /** As in Koa, a body in place of another keeps its type, unless it becomes JSON: mostly it is the same body, changed or encoded. */
  private chooseType(value: unknown): string | undefined {
    const type = inferType(value);
    return this.inferredType === undefined || type === JSON_TYPE ? type : this.inferredType;
  }

  /** The body for the application, which may change it. @internal */
  getMutablePayload(): unknown {
    const { sharedBytes } = this;
    if (sharedBytes !== undefined && this.payload === sharedBytes) this.payload = Buffer.from(sharedBytes);
    return this.payload;
  }

  /** Removes body and type. The status stays. @internal */
  clearBody(): void {
    const before = this.payload;
    if (before !== undefined) discard(before, undefined);
    this.payload = undefined;
    this.inferredType = undefined;
    const { raw } = this;
    for (const name of BODY_HEADERS) if (raw.hasHeader(name)) raw.removeHeader(name);
  }

  /** Whether there is anything to send: a body, a status, a deferred value, or a head that was written by hand. @internal */
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

  /** Writes type and length onto Node's response, where Koa's accessors look for them. @internal */
  mirror(): void {
    const { raw, payload } = this;
    if (this.headIsSent) return;
    this.mirrorType();
    if (raw.hasHeader("Content-Length") || raw.hasHeader("Transfer-Encoding")) return;
    const length = getBodyLength(payload);
    if (length !== undefined) raw.setHeader("Content-Length", length);
  }

  /** A type that the application set stays. The type of the previous body is removed. */
  private mirrorType(): void {
    const { raw, inferredType } = this;
    if (inferredType === undefined) return;
    const present = raw.getHeader("Content-Type");
    if (present !== undefined && present !== this.mirroredType) return;
    raw.setHeader("Content-Type", inferredType);
    this.mirroredType = inferredType;
  }

  // --- the phase, and who writes ---

  /** Computed, because only Node knows whether the head is sent: the application may have written it by hand. @internal */
  get phase(): Phase {
    if (this.endReason !== undefined) return "over";
    if (this.headIsSent) return "sent";
    return this.decisionReason === undefined ? "open" : "decided";
  }

  /** Whether the application may still change the answer. False once a stage has answered in its place. @internal */
  get mayChange(): boolean {
    return this.decisionReason === undefined;
  }

  /** Whether a status or a header that the application sets counts. @internal */
  get headMayChange(): boolean {
    return this.mayChange && !this.headIsSent;
  }

  /** @internal */
  get headIsSent(): boolean {
    return this.raw.headersSent;
  }

  /** The client left before the answer was handed over. @internal */
  get isClientGone(): boolean {
    return this.endReason === "client gone";
  }

  /** Nothing that the handler still does reaches the client: a stage has answered in its place, or the client has left. @internal */
  get isAbandoned(): boolean {
    return !this.mayChange || this.isClientGone;
  }

  /** The application holds Node's response: its head is completed when Node writes it. @internal */
  get isShared(): boolean {
    return this.writer !== "framework";
  }

  /** The application alone writes the answer. @internal */
  get isWrittenByHand(): boolean {
    return this.writer === "by hand";
  }

  /** The application has got Node's response. @internal */
  share(): void {
    this.writer = "shared";
    this.detachIfDecided();
  }

  /** The application, which has got Node's response, writes the answer alone. @internal */
  leaveToApplication(): void {
    this.writer = "by hand";
  }

  /** Takes the answer from its handler: nothing that the handler writes from now on changes it. Stages may change it still. @internal */
  decide(reason: Error): void {
    this.decisionReason = reason;
    this.deferred = undefined;
    if (this.isShared) this.share();
  }

  private detachIfDecided(): void {
    if (this.detached !== undefined || this.decisionReason === undefined) return;
    this.detached = this.raw;
    this.raw = detachResponse(this.raw, this.decisionReason);
  }
}

// In lower case, as Node keeps them: it need not change the case.
const BODY_HEADERS = ["content-type", "content-length", "transfer-encoding"] as const;

/** The length of a body that is text or bytes already. @internal */
export function getBodyLength(payload: unknown): number | undefined {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return isBlob(payload) ? payload.size : undefined;
}

function inferType(value: unknown): string | undefined {
  if (typeof value === "string") return TEXT;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") {
    // The headers of a response name the type and go before this one.
    if (isBytes(value) || isStreamLike(value) || isResponse(value)) return BYTES;
    if (isBlob(value)) return value.type === "" ? BYTES : value.type;
  }
  return JSON_TYPE;
}

/** A body whose value does not tell its length. */
function isStreamLike(value: unknown): boolean {
  return isStream(value) || isWebStream(value) || isAsyncIterable(value);
}

/** Middleware written for Koa knows bytes as a `Buffer`, and takes any other object for JSON. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function discard(before: unknown, after: unknown): void {
  if (!isStream(before)) return;
  if (isStream(after)) {
    follow(before, after);
  } else {
    before.once("error", () => {});
    before.destroy();
  }
}

/**
 * A stream that replaces another one nearly always reads from it. When the new stream ends or fails, the old one is destroyed, which `pipe`
 * does not do.
 */
function follow(before: Readable, after: Readable): void {
  before.once("error", (error) => after.destroy(error));
  after.once("close", () => before.destroy());
}
