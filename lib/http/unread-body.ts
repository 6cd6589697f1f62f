/**
 * Answering before the request's body was read. Closing at once would make the kernel reset the connection and take the answer
 * with it, so the rest is read and thrown away for a while first: at most 1 MiB, and until 2 seconds after the answer (RFC 9112
 * section 9.6). A small rest that was announced is thrown away as well, and the connection kept where it comes in that time.
 */
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { FrameworkError } from "../errors/framework-error.js";
import type { Exchange } from "./exchange.js";
import { DISCARDED_BYTES, DISCARDED_MS, halfClose } from "./half-close.js";

/**
 * The request's body below its stream, where Node's parser feeds it. Node ends the connection together with the stream, and the
 * answer with both: a handler that stops reading in the middle, or whose pipeline fails, could not be answered any more. Here the
 * connection outlives the stream, and what is left of the body is thrown away where the answer is sent.
 */
type Done = (error?: Error | null) => void;

/** Has the connection outlive the body's stream; to be called before the stream is handed out. */
export function spareConnection(incoming: IncomingMessage): void {
  incoming._destroy = destroyStreamOnly;
}

/** `this` is a request of Node's HTTP/2 too, which is no `IncomingMessage`. */
function destroyStreamOnly(this: IncomingMessage, error: Error | null, done: Done): void {
  const { socket } = this as { readonly socket: Socket | null };
  // Once the client has left, Node's own way tells everyone about it.
  const isOver = this instanceof IncomingMessage && (socket === null || socket.destroyed);
  if (isOver) IncomingMessage.prototype._destroy.call(this, error, done);
  else process.nextTick(reportDestroyed, this, error, done);
}

/** As in Node, an error that nobody listens for is no reason to end the process. */
function reportDestroyed(incoming: IncomingMessage, error: Error | null, done: Done): void {
  done(incoming.listenerCount("error") > 0 ? error : null);
}

/** What to do with the bytes that are thrown away, and at their end. */
export interface Rest {
  taken(bytes: number): void;
  ended(): void;
}

/** Throws away what is left of the body. Whoever still reads it gets an error: an end would look like the whole. */
export function discardRest(incoming: IncomingMessage, socket: Socket, rest?: Rest): void {
  const push = incoming.push.bind(incoming);
  incoming.push = (chunk: Buffer | null) => {
    if (chunk !== null) rest?.taken(chunk.length);
    else rest?.ended();
    return chunk === null ? push(null) : true;
  };
  spareConnection(incoming);
  if (incoming.readableFlowing !== null && !incoming.readableEnded) incoming.destroy(brokenOff());
  else incoming.resume();
  socket.resume();
}

function brokenOff(): FrameworkError {
  return new FrameworkError("the request was answered before its body was read to the end", {
    code: "E_BODY_BROKEN_OFF",
  });
}

/** A rest up to this many announced bytes is worth keeping the connection for. */
export const SMALL_REST = 65_536;

export function restIsSmall(incoming: IncomingMessage): boolean {
  const announced = incoming.headers["content-length"];
  return announced !== undefined && incoming.headers.expect === undefined && Number(announced) <= SMALL_REST;
}

/** To be called when the answer is out: sees to it that the next request on the connection can be read, or that it ends. */
export function keepAfter({ incoming, connection: { socket }, clock, mayChange }: Exchange): void {
  const isStanding = incoming.destroyed || incoming.readableFlowing === false;
  // Who reads on to the end may do so, and what nobody has touched Node throws away itself.
  if (isStanding) discardRest(incoming, socket);
  if (incoming.complete || (!isStanding && mayChange && isListenedTo(incoming))) return;
  clock.setTimeout(() => void (incoming.complete || socket.destroy()), DISCARDED_MS, { background: true });
}

function isListenedTo(incoming: IncomingMessage): boolean {
  return incoming.listenerCount("data") > 0 || incoming.listenerCount("readable") > 0;
}

/** To be called before the answer is ended; the answer must carry `Connection: close`. */
export function lingerAfter({ incoming, clock, connection: { socket } }: Exchange): void {
  if (socket.destroyed) return;
  const destroySoon = socket.destroySoon.bind(socket);
  const destroy = (): void => void socket.destroy();
  let discarded = 0;
  // Node ends the socket with this as soon as the answer is written; here it only says that nothing more will come.
  socket.destroySoon = () => {
    if (incoming.complete) return destroySoon();
    const timer = clock.setTimeout(destroy, DISCARDED_MS, { background: true });
    socket.once("close", () => timer.cancel());
    return void socket.end();
  };
  discardRest(incoming, socket, {
    taken: (bytes) => {
      discarded += bytes;
      if (discarded > DISCARDED_BYTES) destroy();
    },
    ended: () => {
      // Other requests may stand behind the body.
      if (socket.writableEnded) halfClose(socket, clock);
    },
  });
}
