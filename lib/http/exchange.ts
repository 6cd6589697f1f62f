/**
 * One request and its answer, below the surface: what has been decided, what is to be sent, and who must be told. Stages work on
 * these members; applications see `Context`, which is an `Exchange` with Koa's face on it.
 *
 * The answer is kept here and becomes a head and bytes at the very end (`send`), so that an answer costs one write. As soon as
 * someone asks for Node's own response, or for Koa's, what is kept so far is written onto it, and from then on both stay equal.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../runtime/clock.js";
import type { TrustedProxies } from "./client-address.js";
import type { Connection } from "./connection.js";
import { ClientGoneError } from "../errors/framework-error.js";
import type { ResponseHead, HeadCompleter } from "./head.js";
import { BYTES, JSON_TYPE, TEXT } from "./media-type.js";
import type { Readable } from "node:stream";
import { detachResponse } from "./raw-response.js";
import { isStream, keepFailure } from "./body-stream.js";
import { currentFlow, resumeFlow, type Flow } from "../tracing/flow.js";

export interface GoneListener {
  clientGone(): void;
}

/** The head as it was at some moment, to be put back. */
export type HeadSnapshot = Readonly<Record<string, number | string | string[] | undefined>> | undefined;

/** @internal */
export type UnhandledErrorReport = (what: string, thrown: unknown) => void;

export abstract class Exchange {
  /** Set once an application, on the prototype of its contexts. @internal */
  declare readonly clock: Clock;
  /** @internal */
  declare readonly proxies: TrustedProxies;
  /** @internal */
  declare readonly readLimit: number;
  /** Told of a panic where no log subscriber is there to hear of it; set where the application is the process. @internal */
  declare readonly unheard: UnhandledErrorReport | undefined;

  /** @internal */
  extensions: unknown[] | undefined = undefined;
  /** What is to be sent, before it is bytes. @internal */
  payload: unknown = undefined;
  /** A body whose bytes others are answered with as well: whoever asks for it may change it, and gets a copy. @internal */
  sharedBytes: Uint8Array | undefined = undefined;
  /** The media type that follows from the body, used where none was set. @internal */
  naturalType: string | undefined = undefined;
  /** @internal */
  statusIsExplicit = false;
  /** A stage has answered for good: what a late handler writes is ignored. @internal */
  sealed = false;
  /** Node's response was handed out: its head must be completed even if it is written by hand. @internal */
  exposed = false;
  /** Koa's response was handed out: what is kept here is written through at once. @internal */
  mirrored = false;
  /** The client left before the answer was handed over. @internal */
  gone = false;
  /** The framework no longer holds the request in flight. @internal */
  finished = false;
  /** A value that an outer stage turns into the answer: a redirect, a page. @internal */
  deferred: unknown = undefined;
  /** What a callback reported through Koa's `onerror`; thrown where the walk ends. @internal */
  lateError: { readonly error: unknown } | undefined = undefined;
  /** @internal */
  completers: HeadCompleter[] | undefined = undefined;
  /** By the monotonic clock, when the outermost stage that measures saw the request. @internal */
  startedAt: number | undefined = undefined;
  /** Where the request's spans are, once a stage has opened one. @internal */
  flow: Flow | undefined = undefined;
  /** Which of the stages and middlewares that limit the time does so now: the innermost the request has come to, or what stops them. @internal */
  timeKeeper: unknown = undefined;
  /** `100 Continue` is owed to the client as soon as someone reads. @internal */
  owesContinue = false;
  /** Bytes of a body that are read at most; `undefined`: the readers' own limit. @internal */
  bodyLimit: number | undefined = undefined;

  /** Node's response as it is handed out, where the framework does not use that itself any more. */
  protected deaf: ServerResponse | undefined = undefined;
  private sealedFor: Error | undefined = undefined;
  private mirroredType: string | undefined = undefined;
  private controller: AbortController | undefined = undefined;
  private signalFlow: Flow | undefined = undefined;
  private abortReason: Error | undefined = undefined;
  private goneListener: GoneListener | undefined = undefined;
  private moreGoneListeners: GoneListener[] | undefined = undefined;

  /** @internal */
  constructor(
    /** @internal */
    readonly incoming: IncomingMessage,
    /** @internal */
    public raw: ServerResponse,
    /** @internal */
    readonly connection: Connection,
  ) {
    raw.statusCode = 404;
    connection.begin(this);
  }

  // --- the answer ---

  /** @internal */
  answerStatus(code: number): void {
    this.raw.statusCode = code;
    this.statusIsExplicit = true;
  }

  /** Puts a body in place of the one before, which is destroyed where it was a stream. @internal */
  answerBody(value: unknown, type = this.typeBehind(value)): void {
    const { raw } = this;
    const before = this.payload;
    if (before !== undefined && before !== value) discard(before, value);
    this.payload = value instanceof Uint8Array ? asBuffer(value) : value;
    if (before !== value && isStream(value)) keepFailure(value);
    // A head that was written by hand says what it says.
    if (raw.headersSent) return;
    // The length of a stream is known to whoever set it beforehand, as middleware for Koa does.
    if (raw.hasHeader("Content-Length") && (before !== undefined || !isFlowing(value)))
      raw.removeHeader("Content-Length");
    if (!this.statusIsExplicit) raw.statusCode = 200;
    this.naturalType = type;
    if (this.mirrored) this.mirror();
  }

  /** As in Koa: a body in place of another keeps its type, unless it is to become JSON; it is mostly the same body, changed or encoded. */
  private typeBehind(value: unknown): string | undefined {
    const type = naturalTypeOf(value);
    return this.naturalType === undefined || type === JSON_TYPE ? type : this.naturalType;
  }

  /** The body for someone who may do with it what they like. @internal */
  ownPayload(): unknown {
    const { sharedBytes } = this;
    if (sharedBytes !== undefined && this.payload === sharedBytes) this.payload = Buffer.from(sharedBytes);
    return this.payload;
  }

  /** No body and no type. The status is left alone. @internal */
  answerNothing(): void {
    const before = this.payload;
    if (before !== undefined) discard(before, undefined);
    this.payload = undefined;
    this.naturalType = undefined;
    const { raw } = this;
    for (const name of BODY_HEADERS) if (raw.hasHeader(name)) raw.removeHeader(name);
  }

  /** Whether someone has said anything: a body, a status, a header written by hand. @internal */
  get isAnswered(): boolean {
    return this.statusIsExplicit || this.payload !== undefined || this.deferred !== undefined || this.raw.headersSent;
  }

  /** Writes type and length onto Node's response, where Koa's accessors look for them. @internal */
  mirror(): void {
    this.mirrored = true;
    const { raw, payload } = this;
    if (raw.headersSent) return;
    this.mirrorType();
    if (raw.hasHeader("Content-Length") || raw.hasHeader("Transfer-Encoding")) return;
    const length = lengthOf(payload);
    if (length !== undefined) raw.setHeader("Content-Length", length);
  }

  /** Someone's own type stays; that of the body before gives way. */
  private mirrorType(): void {
    const { raw, naturalType } = this;
    if (naturalType === undefined) return;
    const present = raw.getHeader("Content-Type");
    if (present !== undefined && present !== this.mirroredType) return;
    raw.setHeader("Content-Type", naturalType);
    this.mirroredType = naturalType;
  }

  /** Has nothing that is written from now on change the answer; the stages may, which write to `raw`. @internal */
  seal(reason: Error): void {
    this.sealed = true;
    this.sealedFor = reason;
    this.deferred = undefined;
    if (this.exposed) this.deafenIfSealed();
  }

  /** @internal */
  deafenIfSealed(): void {
    if (this.deaf !== undefined || this.sealedFor === undefined) return;
    this.deaf = this.raw;
    this.raw = detachResponse(this.raw, this.sealedFor);
  }

  // --- the head ---

  /** Has `completer` add to the head at the moment it is sent, whoever answers. @internal */
  completeHeadWith(completer: HeadCompleter): void {
    (this.completers ??= []).push(completer);
  }

  /** @internal */
  completeHead(head: ResponseHead): void {
    const { completers } = this;
    if (completers === undefined) return;
    // The innermost stage speaks first, as it would on the way out.
    for (let at = completers.length - 1; at >= 0; at--) completers[at]?.complete(this, head);
  }

  /** @internal */
  headSnapshot(): HeadSnapshot {
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

  // --- the end of it, early or late ---

  /** The signal behind `ctx.signal`, made when first asked for. @internal */
  get abortSignal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      this.signalFlow = currentFlow()?.request;
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason);
    }
    return this.controller.signal;
  }

  /** @internal */
  abort(reason: Error): void {
    if (this.abortReason !== undefined || this.finished) return;
    this.abortReason = reason;
    // Whoever listens to the signal logs for this request, wherever the abort comes from.
    if (this.controller !== undefined) resumeFlow(this.signalFlow, abortWith, { controller: this.controller, reason });
  }

  /** Whether `error` is the reason that the signal was aborted with. @internal */
  isAbortedWith(error: Error): boolean {
    return error === this.abortReason;
  }

  /** @internal */
  clientGone(): void {
    if (this.finished) return;
    this.gone = true;
    this.abort(new ClientGoneError());
    this.goneListener?.clientGone();
    for (const listener of this.moreGoneListeners ?? []) listener.clientGone();
    if (this.raw.socket === null) closeQueued(this.raw);
  }

  /** Tells `listener` when the client leaves before the answer was handed over. @internal */
  whenGone(listener: GoneListener): void {
    if (this.goneListener === undefined) this.goneListener = listener;
    else (this.moreGoneListeners ??= []).push(listener);
  }

  /** The answer is handed over, or will never be. @internal */
  finish(): void {
    this.finished = true;
    this.connection.end(this);
  }
}

/**
 * Node closes the answer that its socket is at, and forgets those that wait behind it: what reads a file or a database into one of
 * them would wait for good.
 */
function closeQueued(raw: ServerResponse): void {
  raw.destroy();
  raw.emit("close");
}

const BODY_HEADERS = ["Content-Type", "Content-Length", "Transfer-Encoding"] as const;

function abortWith({ controller, reason }: { readonly controller: AbortController; readonly reason: Error }): void {
  controller.abort(reason);
}

/** Middleware written for Koa knows bytes as a `Buffer`, and takes any other object for JSON. */
function asBuffer(bytes: Uint8Array): Buffer {
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

/** A stream in place of another reads from it, nearly always: the end of one is the end of both, which `pipe` leaves to the caller. */
function follow(before: Readable, after: Readable): void {
  before.once("error", (error) => after.destroy(error));
  after.once("close", () => before.destroy());
}

/** A body whose length its value does not tell. */
function isFlowing(value: unknown): boolean {
  return isStream(value) || value instanceof ReadableStream;
}

function naturalTypeOf(value: unknown): string | undefined {
  if (typeof value === "string") return TEXT;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") {
    if (ArrayBuffer.isView(value) || isFlowing(value) || value instanceof ArrayBuffer) return BYTES;
    // Whatever it is, its own headers say so.
    if (value instanceof Response) return BYTES;
    if (value instanceof Blob) return value.type === "" ? BYTES : value.type;
  }
  return JSON_TYPE;
}

/** The length of a body that is text or bytes already. @internal */
export function lengthOf(payload: unknown): number | undefined {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return payload instanceof Blob ? payload.size : undefined;
}
