/**
 * Makes the value that a handler or a middleware returned the answer on the context. Text stays text, bytes stay bytes, and any other
 * value becomes JSON. That happens inside the pipeline, so that the error boundary catches the errors of a `toJSON`.
 */
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { Context } from "../request/context.js";
import { EventBody } from "./event-stream.js";
import { bytesOf, isAsyncIterable, IterableStream } from "./iterable-stream.js";
import { isPlain, jsonText } from "./json-text.js";
import { JSON_TYPE } from "./media-type.js";
import { isUndoneByFetch, OF_CODED_BYTES, weakTag } from "./coded-content.js";
import { Reply } from "./reply.js";
import { sendable, discardBody, isStream, keepFailure, failureOf } from "./body-stream.js";
import { trimWhitespace } from "./field-value.js";
import { checkFinalStatus } from "./head.js";
import { chunksOf, cookiesOf, isBlob, isBytes, isResponse, isWebStream, type WebResponse } from "./web-values.js";

/** A returned value that an outer stage turns into the answer: a redirect, a page. */
export abstract class Deferred {
  /** Its name in the message about a missing stage. */
  abstract readonly kind: string;

  /** Writes the part of the answer that is known at once, so that the application's own layers see it. @internal */
  abstract announce(ctx: Context): void;
}

/** Applies what a handler returned. `undefined` and `null` leave what was written to the context. @internal */
export function answerWith(ctx: Context, value: unknown): void {
  if (!ctx.mayChange) {
    const body: unknown = value instanceof Reply || isResponse(value) ? value.body : value;
    if (body instanceof EventBody) body.discard();
    else discardBody(body);
    return;
  }
  if (typeof value === "string") {
    ctx.answerBody(value);
  } else if (value === undefined || value === null) {
    if (!ctx.isAnswered && !ctx.isWrittenByHand) ctx.answerStatus(204);
  } else if (typeof value === "object") {
    answerWithObject(ctx, value);
  } else if (typeof value !== "boolean" || (!ctx.headIsSent && ctx.payload === undefined)) {
    // Neither boolean is an answer: the one that `res.write` returns, and the one by which koa2-swagger-ui says that it has set `ctx.body`.
    answerJson(ctx, value);
  }
}

function answerWithObject(ctx: Context, value: object): void {
  // Nearly every object is data; a literal with one of these may be a stream or an iterable.
  if (isPlain(value) && !("pipe" in value) && !(Symbol.asyncIterator in value)) answerJson(ctx, value);
  else if (value instanceof Reply) applyReply(ctx, value);
  else if (value instanceof Deferred) defer(ctx, value);
  // `pipe` and `end` return the response: the application writes the answer.
  else if (value === ctx.raw) ctx.respond = false;
  else if (value instanceof Uint8Array || isStream(value) || isWebStream(value) || isBlob(value)) ctx.answerBody(value);
  else if (isBytes(value)) ctx.answerBody(bytesOf(value));
  else if (isResponse(value)) answerFetchResponse(ctx, value);
  else if (isAsyncIterable(value)) ctx.answerBody(new IterableStream(value, !ctx.raw.hasHeader("Content-Type")));
  else answerJson(ctx, value);
}

function defer(ctx: Context, value: Deferred): void {
  ctx.deferred = value;
  if (!ctx.headIsSent) value.announce(ctx);
}

function answerJson(ctx: Context, value: unknown): void {
  ctx.answerBody(jsonText(value), JSON_TYPE);
}

/** Puts a reply in place of what was there; headers of the same name are replaced, others stay. @internal */
export function applyReply(ctx: Context, reply: Reply): void {
  const { raw } = ctx;
  if (ctx.headIsSent) {
    ctx.answerBody(bodyOf(ctx, reply) ?? "");
    return;
  }
  ctx.answerNothing();
  ctx.answerStatus(reply.statusCode);
  raw.statusMessage = "";
  for (const name in reply.headers) raw.setHeader(name, reply.headers[name] ?? "");
  const body = bodyOf(ctx, reply);
  if (body !== undefined) ctx.answerBody(body, reply.type);
}

function bodyOf(ctx: Context, { body }: Reply): unknown {
  if (body instanceof EventBody) return body.open(ctx);
  return isAsyncIterable(body) && !isStream(body) ? new IterableStream(body) : body;
}

/** Headers about the connection of the other response. */
const OF_THE_CONNECTION = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

function answerFetchResponse(ctx: Context, response: WebResponse): void {
  if (ctx.headIsSent) {
    ctx.answerBody(response.body ?? "");
    return;
  }
  // The status of `Response.error()` is 0.
  checkFinalStatus(response.status);
  ctx.answerStatus(response.status);
  const coding = response.headers.get("content-encoding") ?? undefined;
  // A response that the application made has no URL, and its body is in the coding of its headers.
  const isDecoded = (response.url ?? "") !== "" && coding !== undefined && isUndoneByFetch(coding);
  const named = namesIn(response.headers.get("connection") ?? undefined);
  for (const [name, value] of response.headers) {
    if (OF_THE_CONNECTION.test(name) || named?.has(name) === true || (isDecoded && OF_CODED_BYTES.has(name))) continue;
    if (name !== "set-cookie") ctx.raw.setHeader(name, isDecoded && name === "etag" ? weakTag(value) : value);
  }
  for (const cookie of cookiesOf(response)) ctx.raw.appendHeader("set-cookie", cookie);
  if (response.body !== null) ctx.answerBody(response.body);
}

/** The fields that an upstream's `Connection` names are for its connection alone (RFC 9110 section 7.6.1). */
function namesIn(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  return new Set(connection.split(",").map((name) => trimWhitespace(name).toLowerCase()));
}

/** Turns a value of `ctx.body` into one that can be sent: text, bytes, or a Node stream of them. @internal */
export function settleBody(ctx: Context): void {
  const { payload } = ctx;
  if (payload === undefined || typeof payload === "string" || payload instanceof Uint8Array) return;
  if (isStream(payload)) {
    ctx.payload = sendable(payload);
  } else if (isWebStream(payload)) {
    ctx.payload = streamOf(payload);
  } else if (isBlob(payload)) {
    const { size } = payload;
    ctx.payload = streamOf(payload.stream());
    if (!ctx.headIsSent && !ctx.raw.hasHeader("Content-Length")) ctx.raw.setHeader("Content-Length", size);
  } else if (isResponse(payload)) {
    ctx.payload = undefined;
    answerFetchResponse(ctx, payload);
    settleBody(ctx);
  } else if (isBytes(payload)) {
    ctx.payload = bytesOf(payload);
  } else if (isAsyncIterable(payload)) {
    const stream = new IterableStream(payload, !ctx.headIsSent && !ctx.raw.hasHeader("Content-Type"));
    keepFailure(stream);
    ctx.payload = stream;
  } else {
    answerJson(ctx, payload);
  }
}

function streamOf(body: ReadableStream): Readable {
  const isOwn = body instanceof ReadableStream;
  // Node's and the DOM's declarations of the same class differ.
  const stream = isOwn ? Readable.fromWeb(body as NodeReadableStream) : new IterableStream(chunksOf(body));
  keepFailure(stream);
  return stream;
}

/**
 * A stream that fails before its first byte can still become a 500, so the answer waits this long for the first chunk, the end or an
 * error. It does not wait for event streams, whose first event may come much later.
 */
const FIRST_CHUNK_MS = 100;

/** Makes the returned value the answer. For a stream it waits a short time for the first chunk. */
export function answerReturned(ctx: Context, value: unknown): void | Promise<void> {
  answerWith(ctx, value);
  if (typeof ctx.payload !== "object") return undefined;
  if (isWebStream(ctx.payload) || isStream(ctx.payload) || isAsyncIterable(ctx.payload)) settleBody(ctx);
  return isStream(ctx.payload) ? firstChunk(ctx, ctx.payload) : undefined;
}

function firstChunk(ctx: Context, stream: Readable): void | Promise<void> {
  const decidesType = stream instanceof IterableStream && stream.decidesType && !ctx.headIsSent;
  if (stream.readableEnded || ctx.incoming.method === "HEAD") {
    // The head of a GET would say what only its body decides (RFC 9110 section 9.3.2).
    if (decidesType) ctx.naturalType = undefined;
    return undefined;
  }
  const failure = failureOf(stream);
  if (failure !== undefined) throw failure;
  if (stream.readableLength > 0 || ctx.headIsSent || isEventStream(ctx)) return undefined;
  if (decidesType) return firstValue(ctx, stream);
  // The handler has answered in time, so no deadline counts during the wait.
  const { timeKeeper } = ctx;
  ctx.timeKeeper = stream;
  return begin(ctx, stream, FIRST_CHUNK_MS).finally(() => (ctx.timeKeeper = timeKeeper));
}

/** Without a type that was set, the first value decides it, so that the answer waits for it as for a handler: a deadline counts. */
async function firstValue(ctx: Context, stream: IterableStream): Promise<void> {
  ctx.whenGone({ clientGone: () => void stream.destroy() });
  await begin(ctx, stream);
  if (!ctx.mayChange || ctx.payload !== stream) return;
  ctx.naturalType = stream.naturalType ?? ctx.naturalType;
  if (ctx.isShared) ctx.mirror();
}

/** Node emits the end of a stream only to a reader. */
function isEmptyIterable(stream: Readable): boolean {
  return stream instanceof IterableStream && stream.isOver;
}

function isEventStream({ raw, naturalType }: Context): boolean {
  return /^text\/event-stream(?:$|[ \t;])/i.test(String(raw.getHeader("Content-Type") ?? naturalType));
}

/** Resolves with the first chunk, the end, or after the time, if one is given. Rejects with the error of the stream. */
function begin(ctx: Context, stream: Readable, limitMs?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer?.cancel();
      stream.off("readable", arrived).off("end", arrived).off("close", arrived).off("error", failed);
    };
    const arrived = (): void => {
      if (ctx.isAbandoned) return enough();
      const failure = failureOf(stream);
      if (failure !== undefined) return failed(failure);
      // Node emits "readable" also before an end or an error.
      if (stream.readableLength > 0 || stream.readableEnded || isEmptyIterable(stream)) enough();
    };
    const failed = (error: unknown): void => {
      stop();
      reject(error);
    };
    const enough = (): void => {
      stop();
      resolve();
    };
    const timer = limitMs === undefined ? undefined : ctx.clock.setTimeout(enough, limitMs);
    stream.on("readable", arrived).on("end", arrived).on("close", arrived).on("error", failed);
  });
}
