/**
 * The very end of the walk: the answer kept on the context becomes a head and bytes. Called once a request, by the backstop, after
 * every stage has had its say. It throws before the first byte only, for a head that Node refuses, and the backstop sees to that; what
 * fails later is logged and ends the connection, so that a client sees a cut body and never a clean end (RFC 9112 section 8).
 */
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import { finished, pipeline, type Readable } from "node:stream";
import { announcedLength, checkLength, lengthError, type LengthBounds } from "./announced-length.js";
import { endAnswer, writeHead, isEmptyStatus, TextHead, NodeHead } from "./head.js";
import type { Context } from "./context.js";
import { halfClose } from "./half-close.js";
import { keepAfter, lingerAfter, restIsSmall } from "./unread-body.js";
import { OwnRequest } from "./connection.js";
import { discardBody, failureOf, isStream } from "./body-stream.js";
import { keepFlow, resumeFlow } from "../tracing/flow.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::send");

export function send(ctx: Context): void {
  const { raw, payload } = ctx;
  if (raw.writableEnded || ctx.isWrittenByHand) {
    releaseWhenClosed(ctx);
    return;
  }
  if (ctx.isClientGone || raw.destroyed) {
    discardBody(payload);
    ctx.finish();
    return;
  }
  if (ctx.headIsSent) {
    if (payload !== undefined) sendBehindHead(ctx, payload);
    releaseWhenClosed(ctx);
    return;
  }
  const unread = hasUnreadBody(ctx);
  const lingers = unread && !restIsSmall(ctx.incoming);
  if (unread && !lingers) raw.once("finish", () => keepAfter(ctx));
  if (isEmptyStatus(raw.statusCode)) sendEmpty(ctx, lingers);
  else if (ctx.incoming.method === "HEAD") sendHeadOnly(ctx, lingers);
  else if (isStream(payload)) sendStream(ctx, payload, lingers);
  else sendWhole(ctx, payload, lingers);
}

function sendWhole(ctx: Context, payload: unknown, lingers: boolean): void {
  // `settleBody` has left nothing but text and bytes.
  const body = payload as string | Uint8Array | undefined;
  const length = typeof body === "string" ? Buffer.byteLength(body) : (body?.byteLength ?? 0);
  sendHead(ctx, length, lingers);
  if (lingers) lingerAfter(ctx);
  // What was handed out may have an `end` of somebody's own.
  if (ctx.isShared) ctx.raw.end(body);
  else endAnswer(ctx.raw, body, length);
  letGo(ctx);
  ctx.finish();
}

function sendEmpty(ctx: Context, lingers: boolean): void {
  const { payload, raw } = ctx;
  discardBody(payload);
  ctx.naturalType = undefined;
  raw.removeHeader("Content-Type");
  raw.removeHeader("Content-Length");
  raw.removeHeader("Transfer-Encoding");
  sendHead(ctx, raw.statusCode === 205 ? 0 : undefined, lingers);
  if (lingers) lingerAfter(ctx);
  raw.end();
  letGo(ctx);
  ctx.finish();
}

function sendHeadOnly(ctx: Context, lingers: boolean): void {
  const { payload, raw } = ctx;
  if (isStream(payload)) {
    discardBody(payload);
    sendHead(ctx, undefined, lingers);
  } else {
    // As above.
    const body = payload as string | Uint8Array | undefined;
    const length = typeof body === "string" ? Buffer.byteLength(body) : (body?.byteLength ?? 0);
    sendHead(ctx, length, lingers);
  }
  if (lingers) lingerAfter(ctx);
  raw.end();
  letGo(ctx);
  ctx.finish();
}

function sendStream(ctx: Context, stream: Readable, lingers: boolean): void {
  sendHead(ctx, undefined, lingers);
  if (lingers) lingerAfterStream(ctx, stream);
  const { raw } = ctx;
  const most = announcedLength(raw);
  raw.flushHeaders();
  // What produces the body is the handler's work, whoever sends it.
  resumeFlow(ctx.flow, (body) => pump(ctx, body, { least: most, most }), stream);
}

/** The head went out by hand, or a part of the body too: what there is to send follows, as it does on Koa. */
function sendBehindHead(ctx: Context, payload: unknown): void {
  const { raw } = ctx;
  if (ctx.incoming.method === "HEAD" || isEmptyStatus(raw.statusCode)) {
    discardBody(payload);
    raw.end();
    return;
  }
  const most = announcedLength(raw);
  const bounds = { least: isHeadAlone(raw) ? most : undefined, most };
  if (isStream(payload)) {
    raw.flushHeaders();
    resumeFlow(ctx.flow, (body) => pump(ctx, body, bounds), payload);
  } else {
    // As above.
    endBehindHead(ctx, payload as string | Uint8Array, bounds);
  }
}

function endBehindHead(ctx: Context, body: string | Uint8Array, bounds: LengthBounds): void {
  const { raw } = ctx;
  const error = lengthError(Buffer.byteLength(body), bounds);
  if (error === undefined) {
    raw.end(body);
    return;
  }
  log.error("response failed", { error, status: raw.statusCode });
  raw.destroy();
}

/** Whether a head that was written by hand has nothing behind it yet, by Node's own note; there is no public one. */
function isHeadAlone(raw: ServerResponse & { readonly _headerSent?: boolean }): boolean {
  return raw._headerSent === false;
}

function pump(ctx: Context, stream: Readable, bounds: LengthBounds): void {
  keepFlow(ctx.raw);
  let told = false;
  const tell = (error: unknown): void => {
    if (!told && !ctx.isClientGone) log.error("response failed", { error, status: ctx.raw.statusCode });
    told = true;
  };
  // The pipeline tells it too, but on newer Nodes after it has closed the connection, when the client seems to have left.
  const failure = failureOf(stream);
  if (failure === undefined) stream.once("error", tell);
  else tell(failure);
  const cut = (error: Error): void => {
    tell(error);
    ctx.raw.destroy();
  };
  const done = (error: Error | null | undefined): void => {
    if (error !== null && error !== undefined) cut(error);
    ctx.finish();
  };
  pipeline(stream, ctx.raw, done);
  if (bounds.most !== undefined) checkLength(stream, bounds, cut);
}

/** The answer may be made of the body, also in ways that do not show yet; then there is no rest before it ends. */
function lingerAfterStream(ctx: Context, stream: Readable): void {
  if (ctx.incoming.destroyed) lingerAfter(ctx);
  else stream.once("end", () => void (ctx.incoming.complete || lingerAfter(ctx)));
}

/** `length` `undefined`: not known; Node then frames the body itself. */
function sendHead(ctx: Context, length: number | undefined, lingers: boolean): void {
  const { raw, connection } = ctx;
  // Of pipelined requests only the last may say so: Node throws away every answer behind the one that does. In HTTP/2 no header closes
  // the connection (RFC 9113 section 8.2.2).
  const closes =
    lingers || (connection.registry.closing && connection.stream === undefined && connection.endsWith(ctx));
  if (closes) connection.isClosing = true;
  if (ctx.isShared || raw.getHeaderNames().length > 0) {
    writeOnTop(ctx, length, closes);
    return;
  }
  const pairs: OutgoingHttpHeader[] = [];
  if (ctx.naturalType !== undefined) pairs.push("Content-Type", ctx.naturalType);
  if (length !== undefined) pairs.push("Content-Length", String(length));
  if (closes) pairs.push("Connection", "close");
  const head = new TextHead();
  ctx.completeHead(head);
  writeHead(raw, pairs, head);
}

function writeOnTop(ctx: Context, length: number | undefined, closes: boolean): void {
  const { raw } = ctx;
  if (ctx.naturalType !== undefined && !raw.hasHeader("Content-Type")) raw.setHeader("Content-Type", ctx.naturalType);
  if (
    length !== undefined &&
    !raw.hasHeader("Transfer-Encoding") &&
    !(raw.req.method === "HEAD" && raw.hasHeader("Content-Length"))
  ) {
    raw.setHeader("Content-Length", length);
  }
  if (closes) raw.setHeader("Connection", "close");
  // Where the response was handed out, its own writeHead completes the head.
  if (!ctx.isShared) ctx.completeHead(new NodeHead(raw));
  raw.writeHead(raw.statusCode);
}

/** Someone answers by hand: the request is in flight until Node says that the answer is over. */
function releaseWhenClosed(ctx: Context): void {
  if (ctx.raw.writableFinished || ctx.raw.destroyed) release(ctx);
  else finished(ctx.raw, { readable: false }, () => release(ctx));
}

/**
 * What was kept for an answer that is over will not be sent. Where reading the request's body was broken off, nobody would take in
 * its rest, and the next request behind it would wait.
 */
function release(ctx: Context): void {
  const { incoming, connection, payload } = ctx;
  discardBody(payload);
  if (incoming.destroyed && hasUnreadBody(ctx)) {
    if (restIsSmall(incoming)) keepAfter(ctx);
    else halfClose(connection.socket, ctx.clock);
  }
  ctx.finish();
}

/** The answer is out, and of its request nobody will ask for more. */
function letGo({ incoming, requestIsShared, isShared }: Context): void {
  if (incoming instanceof OwnRequest && !requestIsShared && !isShared && !hasBody(incoming)) incoming.endUnheard();
}

/** In HTTP/2 the rest of a body holds up no other request. */
function hasUnreadBody({ incoming, connection }: Context): boolean {
  return connection.stream === undefined && hasBody(incoming) && !incoming.complete;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": coding } = headers;
  return length === undefined ? coding !== undefined : length !== "0";
}
