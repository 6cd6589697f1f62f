/**
 * The request's body below its stream, where Node's parser feeds it. Node ends the connection together with the stream, and the
 * answer with both: a handler that stops reading in the middle, or whose pipeline fails, could not be answered any more. Here the
 * connection outlives the stream, and what is left of the body is thrown away where the answer is sent.
 */
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { FrameworkError } from "../errors/framework-error.js";

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
