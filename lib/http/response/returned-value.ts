/**
 * Converts the value that a handler or a middleware returned into the response on the context. Text stays text, bytes stay bytes, and any
 * other value becomes JSON. This happens inside the pipeline, so that the error boundary catches the errors of a `toJSON`.
 */
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { refuseForeignCopy } from "../../errors/copy.js";
import { markKind } from "../../errors/copy-mark.js";
import type { Context } from "../request/context.js";
import { EventBody } from "./event-stream.js";
import { toBytes, isAsyncIterable, IterableStream } from "./iterable-stream.js";
import { isPlainData, toJsonText } from "./json-text.js";
import { JSON_TYPE } from "./media-type.js";
import { isDecodedByFetch, CODED_BYTES_HEADERS, toWeakTag } from "./coded-content.js";
import { Reply } from "./reply.js";
import { toSendable, discardBody, isStream, ignoreEarlyErrors, findStreamError } from "./body-stream.js";
import { trimWhitespace } from "./field-value.js";
import { checkFinalStatus } from "./head.js";
import { readChunks, getSetCookies, isBlob, isBytes, isResponse, isWebStream, type WebResponse } from "./web-values.js";

/** A returned value that an outer stage converts into the response: a redirect, a page. */
export abstract class Deferred {
  static {
    markKind(this.prototype, "returned value");
  }

  /** The name of the value in the message about a missing stage. */
  abstract readonly kind: string;

  /** Writes the part of the response that is known at once, so that the layers of the application see it. @internal */
  abstract announce(ctx: Context): void;

  /** The status, where the value decides it. @internal */
  findStatus(_ctx: Context): number | undefined {
    return undefined;
  }
}

/** Applies a returned value. `undefined` and `null` leave the response as it was written to the context. @internal */
export function respondWith(ctx: Context, value: unknown): void {
  if (!ctx.mayChange) {
    const body: unknown = value instanceof Reply ? value.value : isResponse(value) ? value.body : value;
    if (body instanceof EventBody) body.discard();
    else discardBody(body);
    return;
  }
  if (typeof value === "string") {
    ctx.setBody(value);
  } else if (value === undefined || value === null) {
    if (!ctx.hasResponse && !ctx.isWrittenByHand) ctx.setStatus(204);
  } else if (typeof value === "object") {
    respondWithObject(ctx, value);
  } else if (typeof value !== "boolean" || (!ctx.headIsSent && ctx.payload === undefined)) {
    // A boolean is no response beside a body: `res.write` returns one, and koa2-swagger-ui returns one after it has set `ctx.body`.
    respondWithJson(ctx, value);
  }
}

function respondWithObject(ctx: Context, value: object): void {
  if (isPlainData(value)) respondWithJson(ctx, value);
  else if (value instanceof Reply) applyReply(ctx, value);
  else if (value instanceof Deferred) defer(ctx, value);
  // `pipe` and `end` return Node's response: the application writes it by hand.
  else if (value === ctx.raw) ctx.respond = false;
  else if (value instanceof Uint8Array || isStream(value) || isWebStream(value) || isBlob(value)) ctx.setBody(value);
  else if (isBytes(value)) ctx.setBody(toBytes(value));
  else if (isResponse(value)) respondWithFetchResponse(ctx, value);
  else if (isAsyncIterable(value)) ctx.setBody(new IterableStream(value, !ctx.raw.hasHeader("Content-Type")));
  else {
    // A refusal by a reply of another copy would become a 200.
    refuseForeignCopy(value);
    respondWithJson(ctx, value);
  }
}

function defer(ctx: Context, value: Deferred): void {
  ctx.deferred = value;
  if (!ctx.headIsSent) value.announce(ctx);
}

function respondWithJson(ctx: Context, value: unknown): void {
  ctx.setBody(toJsonText(value), JSON_TYPE);
}

/** Replaces the response with a reply. Headers of the same name are replaced, others stay. @internal */
export function applyReply(ctx: Context, reply: Reply): void {
  const { raw } = ctx;
  if (ctx.headIsSent) {
    ctx.setBody(openBody(ctx, reply) ?? "");
    return;
  }
  ctx.clearBody();
  ctx.setStatus(reply.statusCode);
  raw.statusMessage = "";
  for (const name in reply.headers) raw.setHeader(name, reply.headers[name] ?? "");
  const body = openBody(ctx, reply);
  if (body !== undefined) ctx.setBody(body, reply.type);
}

function openBody(ctx: Context, { body }: Reply): unknown {
  if (body instanceof EventBody) return body.open(ctx);
  return isAsyncIterable(body) && !isStream(body) ? new IterableStream(body) : body;
}

/** Headers that describe the connection of a fetched response. */
const CONNECTION_HEADERS = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

function respondWithFetchResponse(ctx: Context, response: WebResponse): void {
  if (ctx.headIsSent) {
    ctx.setBody(response.body ?? "");
    return;
  }
  // The status of `Response.error()` is 0.
  checkFinalStatus(response.status);
  ctx.setStatus(response.status);
  const coding = response.headers.get("content-encoding") ?? undefined;
  // A `Response` that the application created has no URL, and its body is in the coding of its headers.
  const isDecoded = (response.url ?? "") !== "" && coding !== undefined && isDecodedByFetch(coding);
  const connectionNames = parseConnectionNames(response.headers.get("connection") ?? undefined);
  for (const [name, value] of response.headers) {
    if (
      CONNECTION_HEADERS.test(name) ||
      connectionNames?.has(name) === true ||
      (isDecoded && CODED_BYTES_HEADERS.has(name))
    )
      continue;
    if (name !== "set-cookie") ctx.raw.setHeader(name, isDecoded && name === "etag" ? toWeakTag(value) : value);
  }
  for (const cookie of getSetCookies(response)) ctx.raw.appendHeader("set-cookie", cookie);
  if (response.body !== null) ctx.setBody(response.body);
}

/** The fields that an upstream's `Connection` names are for its connection alone (RFC 9110 section 7.6.1). */
function parseConnectionNames(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  return new Set(connection.split(",").map((name) => trimWhitespace(name).toLowerCase()));
}

/** Converts a value of `ctx.body` into one that can be sent: text, bytes, or a Node stream of them. @internal */
export function settleBody(ctx: Context): void {
  const { payload } = ctx;
  if (payload === undefined || typeof payload === "string" || payload instanceof Uint8Array) return;
  if (isPlainData(payload)) {
    respondWithJson(ctx, payload);
  } else if (isStream(payload)) {
    ctx.payload = toSendable(payload);
  } else if (isWebStream(payload)) {
    ctx.payload = toNodeStream(payload);
  } else if (isBlob(payload)) {
    const { size } = payload;
    ctx.payload = toNodeStream(payload.stream());
    if (!ctx.headIsSent && !ctx.raw.hasHeader("Content-Length")) ctx.raw.setHeader("Content-Length", size);
  } else if (isResponse(payload)) {
    ctx.payload = undefined;
    respondWithFetchResponse(ctx, payload);
    settleBody(ctx);
  } else if (isBytes(payload)) {
    ctx.payload = toBytes(payload);
  } else if (isAsyncIterable(payload)) {
    const stream = new IterableStream(payload, !ctx.headIsSent && !ctx.raw.hasHeader("Content-Type"));
    ignoreEarlyErrors(stream);
    ctx.payload = stream;
  } else {
    respondWithJson(ctx, payload);
  }
}

function toNodeStream(body: ReadableStream): Readable {
  const isNative = body instanceof ReadableStream;
  // Node's and the DOM's declarations of the same class differ.
  const stream = isNative ? Readable.fromWeb(body as NodeReadableStream) : new IterableStream(readChunks(body));
  ignoreEarlyErrors(stream);
  return stream;
}

/**
 * In milliseconds. A stream that fails before its first byte can still become a 500, so the response waits this long for the first chunk,
 * the end or an error. It does not wait for event streams, whose first event may come much later.
 */
const FIRST_CHUNK_MS = 100;

/** Converts the returned value into the response. For a stream it waits a short time for the first chunk. */
export function respondWithReturned(ctx: Context, value: unknown): void | Promise<void> {
  respondWith(ctx, value);
  if (typeof ctx.payload !== "object") return undefined;
  if (isWebStream(ctx.payload) || isStream(ctx.payload) || isAsyncIterable(ctx.payload)) settleBody(ctx);
  return isStream(ctx.payload) ? waitForFirstChunk(ctx, ctx.payload) : undefined;
}

function waitForFirstChunk(ctx: Context, stream: Readable): void | Promise<void> {
  const decidesType = stream instanceof IterableStream && stream.decidesType && !ctx.headIsSent;
  if (stream.readableEnded || ctx.incoming.method === "HEAD") {
    // The media type would follow from the body of a GET, so the response to HEAD has none (RFC 9110 section 9.3.2).
    if (decidesType) ctx.inferredType = undefined;
    return undefined;
  }
  const failure = findStreamError(stream);
  if (failure !== undefined) throw failure;
  if (stream.readableLength > 0 || ctx.headIsSent || isEventStream(ctx)) return undefined;
  if (decidesType) return waitForFirstValue(ctx, stream);
  // The handler has returned in time, so no deadline counts during the wait.
  const { activeTimeout } = ctx;
  ctx.activeTimeout = stream;
  return waitForStart(ctx, stream, FIRST_CHUNK_MS).finally(() => (ctx.activeTimeout = activeTimeout));
}

/**
 * Where no media type is set, the first value decides it. The response then waits for that value as for a handler, and a deadline counts.
 */
async function waitForFirstValue(ctx: Context, stream: IterableStream): Promise<void> {
  ctx.onClientGone({ clientGone: () => void stream.destroy() });
  await waitForStart(ctx, stream);
  if (!ctx.mayChange || ctx.payload !== stream) return;
  ctx.inferredType = stream.inferredType ?? ctx.inferredType;
  if (ctx.isExposed) ctx.mirror();
}

/** Node emits the end of a stream only to a reader. */
function isEndedIterable(stream: Readable): boolean {
  return stream instanceof IterableStream && stream.isEnded;
}

function isEventStream({ raw, inferredType }: Context): boolean {
  return /^text\/event-stream(?:$|[ \t;])/i.test(String(raw.getHeader("Content-Type") ?? inferredType));
}

/** Resolves at the first chunk, at the end, or after `limitMs` if it is given. Rejects with the error of the stream. */
function waitForStart(ctx: Context, stream: Readable, limitMs?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer?.cancel();
      stream.off("readable", checkStream).off("end", checkStream).off("close", checkStream).off("error", fail);
    };
    const checkStream = (): void => {
      if (ctx.isAbandoned) return succeed();
      const failure = findStreamError(stream);
      if (failure !== undefined) return fail(failure);
      // Node emits "readable" also before an end or an error.
      if (stream.readableLength > 0 || stream.readableEnded || isEndedIterable(stream)) succeed();
    };
    const fail = (error: unknown): void => {
      stop();
      reject(error);
    };
    const succeed = (): void => {
      stop();
      resolve();
    };
    const timer = limitMs === undefined ? undefined : ctx.clock.setTimeout(succeed, limitMs);
    stream.on("readable", checkStream).on("end", checkStream).on("close", checkStream).on("error", fail);
  });
}
