/**
 * Handles a request body that is not read to its end before the response. If the connection closed at once, the kernel would reset it, and
 * the client would lose the response. So the rest is read and discarded first, until 2 seconds after the response (RFC 9112 section 9.6).
 * After 1 MiB no more is read, but the connection stays open for that time: a proxy that still writes has not read the response. A small
 * rest with a known length is discarded too, and the connection stays open if it arrives in that time.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { FrameworkError } from "../../errors/framework-error.js";
import { nodeHttp } from "../../runtime/node-http.js";
import type { Exchange } from "../request/exchange.js";
import { MAX_DISCARDED_BYTES, MAX_DISCARD_MS, halfClose } from "./half-close.js";

type Done = (error?: Error | null) => void;

/**
 * Keeps the connection open when the stream of the body is destroyed. Node would close both, and the client would get no response from a
 * handler that stops reading in the middle. Call it before the application gets the stream.
 */
export function keepConnectionOpen(incoming: IncomingMessage): void {
  incoming._destroy = destroyStreamOnly;
}

/** `this` may be a request of Node's HTTP/2, which is not an `IncomingMessage`. */
function destroyStreamOnly(this: IncomingMessage, error: Error | null, done: Done): void {
  const { socket } = this as { readonly socket: Socket | null };
  // After the client has left, the method of Node reports that to all listeners.
  const isClosed = this instanceof nodeHttp.IncomingMessage && (socket === null || socket.destroyed);
  if (isClosed) nodeHttp.IncomingMessage.prototype._destroy.call(this, error, done);
  else process.nextTick(reportDestroyed, this, error, done);
}

/** As in Node, an error without a listener does not end the process. */
function reportDestroyed(incoming: IncomingMessage, error: Error | null, done: Done): void {
  done(incoming.listenerCount("error") > 0 ? error : null);
}

/** Observes the rest of a body while it is discarded. */
export interface DiscardObserver {
  /** False if no more is to be read. */
  onBytes(bytes: number): boolean;
  onEnd(): void;
}

/** Discards the rest of the body. A reader gets an error, because a regular end would mean that the body is complete. */
export function discardRest(incoming: IncomingMessage, socket: Socket, observer?: DiscardObserver): void {
  const push = incoming.push.bind(incoming);
  incoming.push = (chunk: Buffer | null) => {
    // Node stops reading from the socket if this is false.
    if (chunk !== null) return observer?.onBytes(chunk.length) ?? true;
    observer?.onEnd();
    return push(null);
  };
  keepConnectionOpen(incoming);
  if (incoming.readableFlowing !== null && !incoming.readableEnded) incoming.destroy(createBrokenOffError());
  else incoming.resume();
  socket.resume();
}

function createBrokenOffError(): FrameworkError {
  return new FrameworkError("the response was sent before the body of the request was read to its end", {
    code: "E_BODY_BROKEN_OFF",
  });
}

/** In bytes: the maximum length of a body after which the connection stays open. */
export const MAX_REUSE_BYTES = 65_536;

export function isSmallBody(incoming: IncomingMessage): boolean {
  const announced = incoming.headers["content-length"];
  return announced !== undefined && incoming.headers.expect === undefined && Number(announced) <= MAX_REUSE_BYTES;
}

/** Call it after the response is sent. Discards the rest of the body for the next request, or closes the connection in time. */
export function keepAliveAfterResponse({ incoming, connection: { socket }, clock, mayChange }: Exchange): void {
  const isStopped = incoming.destroyed || incoming.readableFlowing === false;
  // A reader may read to the end. Node itself discards a body that was never read.
  if (isStopped) discardRest(incoming, socket);
  if (incoming.complete || (!isStopped && mayChange && isListenedTo(incoming))) return;
  clock.setTimeout(() => void (incoming.complete || socket.destroy()), MAX_DISCARD_MS, { background: true });
}

/**
 * Whether a reader waits for bytes that have not arrived. `incoming.complete` alone is not enough: it stays false for an unread body. A
 * reader that has paused the stream, or that has bytes to read, does not wait.
 */
export function waitsForBody(incoming: IncomingMessage): boolean {
  if (incoming.complete) return false;
  if (incoming.readableFlowing === true) return incoming.listenerCount("data") > 0;
  return incoming.listenerCount("readable") > 0 && incoming.readableLength === 0;
}

function isListenedTo(incoming: IncomingMessage): boolean {
  return incoming.listenerCount("data") > 0 || incoming.listenerCount("readable") > 0;
}

/** Call it before the end of a response with `Connection: close`. Closes the connection after the rest of the body. */
export function lingerAfterResponse({ incoming, clock, connection: { socket } }: Exchange): void {
  if (socket.destroyed) return;
  const destroySoon = socket.destroySoon.bind(socket);
  const destroy = (): void => void socket.destroy();
  let discarded = 0;
  // Node calls this as soon as the response is written. Here it closes only the server's direction.
  socket.destroySoon = () => {
    if (incoming.complete) return destroySoon();
    const timer = clock.setTimeout(destroy, MAX_DISCARD_MS, { background: true });
    socket.once("close", () => timer.cancel());
    return void socket.end();
  };
  discardRest(incoming, socket, {
    onBytes: (bytes) => {
      discarded += bytes;
      return discarded <= MAX_DISCARDED_BYTES;
    },
    onEnd: () => {
      // Other requests may follow the body.
      if (socket.writableEnded) halfClose(socket, clock);
    },
  });
}
