/**
 * Sends the response: converts the state of the context into a head and bytes. `lastResortHandler` of `pipeline/error-boundary.ts` calls it
 * once for each request, after every stage. It throws only before the first byte, for a head that Node refuses. A later failure is logged
 * and ends the connection, so that the client sees a body that is cut off, and not a clean end (RFC 9112 section 8).
 */
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import { finished, pipeline, type Readable } from "node:stream";
import { getAnnouncedLength, checkLength, findLengthError, type LengthBounds } from "./announced-length.js";
import { endResponse, endWithBody, flushHead, isWatched, acceptsTextHead, writeHead, isEmptyStatus } from "./head.js";
import { TextHead, NodeHead } from "./response-head.js";
import type { Context } from "../request/context.js";
import { halfClose } from "../connection/half-close.js";
import { getBodyLength } from "./response-state.js";
import { notifyErrorListeners } from "../koa/error-events.js";
import { keepAliveAfterResponse, lingerAfterResponse, isSmallBody } from "../connection/unread-body.js";
import { FrameworkRequest } from "../connection/connection.js";
import { discardBody, findStreamError, isStream } from "./body-stream.js";
import { bindFlow, resumeFlow } from "../../tracing/flow.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::http::send");

export function send(ctx: Context): void {
  const { raw, payload } = ctx;
  if (raw.writableEnded || ctx.isWrittenByHand) {
    finishWhenClosed(ctx);
  } else if (ctx.isClientGone || raw.destroyed) {
    discardBody(payload);
    ctx.finish();
  } else if (ctx.headIsSent) {
    if (payload !== undefined) sendAfterHead(ctx, payload);
    finishWhenClosed(ctx);
  } else {
    sendResponse(ctx);
  }
}

/** Decides the framing and the treatment of an unread request body, then writes. */
function sendResponse(ctx: Context): void {
  const { raw, payload } = ctx;
  const lingers = hasUnreadBody(ctx) && mustLinger(ctx);
  const isEmpty = isEmptyStatus(raw.statusCode);
  const carriesBody = !isEmpty && ctx.incoming.method !== "HEAD";
  const length = isEmpty ? removeBodyHeaders(ctx) : payload === undefined ? 0 : getBodyLength(payload);
  if (!carriesBody) discardBody(payload);
  sendHead(ctx, length, lingers);
  // `settleBody` has left text, bytes and streams; only a stream does not tell its length.
  if (carriesBody && length === undefined) sendStream(ctx, payload as Readable, lingers);
  else sendWhole(ctx, carriesBody ? (payload as string | Uint8Array | undefined) : undefined, length ?? 0, lingers);
}

/**
 * Removes the headers of the body from a response without a body, and returns the length to send. Only a 205 says its length, which is 0
 * (RFC 9110 section 15.3.6).
 */
function removeBodyHeaders(ctx: Context): number | undefined {
  const { raw } = ctx;
  ctx.inferredType = undefined;
  raw.removeHeader("Content-Type");
  raw.removeHeader("Content-Length");
  raw.removeHeader("Transfer-Encoding");
  return raw.statusCode === 205 ? 0 : undefined;
}

function sendWhole(ctx: Context, body: string | Uint8Array | undefined, length: number, lingers: boolean): void {
  if (lingers) lingerAfterResponse(ctx);
  // The application may have overridden `end` of a response that it has.
  if (ctx.isExposed && body !== undefined) endWithBody(ctx.raw, body);
  else endResponse(ctx.raw, body, length);
  endRequest(ctx);
  ctx.finish();
}

function sendStream(ctx: Context, stream: Readable, lingers: boolean): void {
  if (lingers) lingerAfterStream(ctx, stream);
  const { raw } = ctx;
  const max = getAnnouncedLength(raw);
  flushHead(raw);
  // The handler's code produces the body, so its log events belong to the handler's flow.
  resumeFlow(ctx.flow, (body) => pipeBody(ctx, body, { min: max, max }), stream);
}

/** The application has sent the head, and perhaps a part of the body: the rest follows, as in Koa. */
function sendAfterHead(ctx: Context, payload: unknown): void {
  const { raw } = ctx;
  if (ctx.incoming.method === "HEAD" || isEmptyStatus(raw.statusCode)) {
    discardBody(payload);
    raw.end();
    return;
  }
  const max = getAnnouncedLength(raw);
  const bounds = { min: ctx.bodyMayBeStarted ? undefined : max, max };
  if (isStream(payload)) {
    flushHead(raw);
    resumeFlow(ctx.flow, (body) => pipeBody(ctx, body, bounds), payload);
  } else {
    // `settleBody` has left text and bytes here.
    endAfterHead(ctx, payload as string | Uint8Array, bounds);
  }
}

function endAfterHead(ctx: Context, body: string | Uint8Array, bounds: LengthBounds): void {
  const { raw } = ctx;
  const error = findLengthError(Buffer.byteLength(body), bounds);
  if (error === undefined) {
    endWithBody(raw, body);
    return;
  }
  log.error("response failed", { error, status: raw.statusCode });
  notifyErrorListeners(ctx, error);
  raw.destroy();
}

function pipeBody(ctx: Context, stream: Readable, bounds: LengthBounds): void {
  bindFlow(ctx.raw);
  let isReported = false;
  const report = (error: unknown): void => {
    if (!isReported && !ctx.isClientGone) {
      log.error("response failed", { error, status: ctx.raw.statusCode });
      notifyErrorListeners(ctx, error);
    }
    isReported = true;
  };
  // The pipeline reports the failure too, but newer versions of Node close the connection first, and the client seems to have left.
  const failure = findStreamError(stream);
  if (failure === undefined) stream.once("error", report);
  else report(failure);
  const cut = (error: Error): void => {
    report(error);
    ctx.raw.destroy();
  };
  const done = (error: Error | null | undefined): void => {
    if (error !== null && error !== undefined) cut(error);
    ctx.finish();
  };
  pipeline(stream, ctx.raw, done);
  if (bounds.max !== undefined) checkLength(stream, bounds, cut);
}

/**
 * The stream may read from the request body, even if it has not started to. So the rest of the request body is known only when the stream
 * ends.
 */
function lingerAfterStream(ctx: Context, stream: Readable): void {
  if (ctx.incoming.destroyed) lingerAfterResponse(ctx);
  else stream.once("end", () => void (ctx.incoming.complete || lingerAfterResponse(ctx)));
}

/** @param length in bytes; `undefined` if it is unknown, and Node frames the body itself */
function sendHead(ctx: Context, length: number | undefined, lingers: boolean): void {
  const { raw, connection } = ctx;
  // Node discards every response behind one that closes the connection, so of pipelined requests only the last may close it. In HTTP/2 no
  // header closes the connection (RFC 9113 section 8.2.2).
  const closes = lingers || connection.closesAfter(ctx);
  if (closes) connection.isClosing = true;
  if (ctx.isExposed || !acceptsTextHead(raw)) {
    writeNodeHead(ctx, length, closes);
    return;
  }
  const pairs: OutgoingHttpHeader[] = [];
  if (ctx.inferredType !== undefined) pairs.push("Content-Type", ctx.inferredType);
  if (length !== undefined) pairs.push("Content-Length", String(length));
  if (closes) pairs.push("Connection", "close");
  if (ctx.hasCompleters) {
    const head = new TextHead();
    ctx.completeHead(head);
    writeHead(raw, pairs, head.lines());
  } else {
    writeHead(raw, pairs, "");
  }
}

function writeNodeHead(ctx: Context, length: number | undefined, closes: boolean): void {
  const { raw } = ctx;
  if (ctx.inferredType !== undefined && !raw.hasHeader("Content-Type")) raw.setHeader("Content-Type", ctx.inferredType);
  // A stage that has set the length of the body, as for a file, has set the framing.
  if (raw.getHeader("Content-Length") !== length || raw.hasHeader("Transfer-Encoding")) setFraming(raw, length);
  if (closes) raw.setHeader("Connection", "close");
  // The writeHead of a shared response completes the head itself.
  if (!ctx.isExposed) ctx.completeHead(new NodeHead(raw));
  raw.writeHead(raw.statusCode);
}

function setFraming(raw: ServerResponse, length: number | undefined): void {
  removeWrongFraming(raw);
  if (
    length !== undefined &&
    !raw.hasHeader("Transfer-Encoding") &&
    !(raw.req.method === "HEAD" && raw.hasHeader("Content-Length"))
  ) {
    raw.setHeader("Content-Length", length);
  }
}

/**
 * Removes framing headers that the application set wrongly. They may ask for chunks or give a length. With any other framing a client would
 * read the rest of the body as the next response. Chunks exclude a length (RFC 9112 section 6.2), and HTTP/1.0 has no chunks.
 */
function removeWrongFraming(raw: ServerResponse): void {
  const length = raw.getHeader("Content-Length");
  if (raw.hasHeader("Transfer-Encoding")) {
    if (length !== undefined) raw.removeHeader("Content-Length");
    if (raw.req.httpVersionMinor === 0) raw.removeHeader("Transfer-Encoding");
    else raw.setHeader("Transfer-Encoding", "chunked");
  } else if (length !== undefined && !ONLY_DIGITS.test(String(length))) {
    raw.removeHeader("Content-Length");
  }
}

const ONLY_DIGITS = /^\d+$/;

/** The application writes the response. The request is in flight until Node has closed the response. */
function finishWhenClosed(ctx: Context): void {
  if (ctx.raw.writableFinished || ctx.raw.destroyed) finishClosed(ctx);
  else finished(ctx.raw, { readable: false }, () => finishClosed(ctx));
}

/**
 * Discards a body that was set, which is not sent. If the application stopped reading the request body, the rest of it is discarded too,
 * because the next request follows it.
 */
function finishClosed(ctx: Context): void {
  const { incoming, connection, payload } = ctx;
  discardBody(payload);
  if (incoming.destroyed && hasUnreadBody(ctx)) {
    if (isSmallBody(incoming)) keepAliveAfterResponse(ctx);
    else halfClose(connection.socket, ctx.clock);
  }
  ctx.finish();
}

/** Ends a request without a body, from which nothing can be read, unless other code has the request or the response. */
function endRequest({ incoming, raw, requestIsShared, isExposed }: Context): void {
  if (!(incoming instanceof FrameworkRequest) || requestIsShared || isExposed) return;
  if (!hasBody(incoming) && !isWatched(raw)) incoming.endUnobserved();
}

/**
 * Whether the response has to close the connection because the unread rest of the request body is large. A small rest is discarded, and the
 * connection stays open.
 */
function mustLinger(ctx: Context): boolean {
  if (!isSmallBody(ctx.incoming)) return true;
  ctx.raw.once("finish", () => keepAliveAfterResponse(ctx));
  return false;
}

/** Whether a part of the request body is unread, and the next request may wait behind it. In HTTP/2 none does. */
function hasUnreadBody({ incoming, connection }: Context): boolean {
  return connection.stream === undefined && hasBody(incoming) && !incoming.complete;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": coding } = headers;
  return length === undefined ? coding !== undefined : length !== "0";
}
