/**
 * Answering before the request's body was read. Closing at once would make the kernel reset the connection and take the answer
 * with it, so the rest is read and thrown away for a while first: at most 1 MiB, and until 2 seconds after the answer (RFC 9112
 * section 9.6). A small rest that was announced is thrown away as well, and the connection kept where it comes in that time.
 */
import type { IncomingMessage } from "node:http";
import type { Exchange } from "./exchange.js";
import { DISCARDED_BYTES, DISCARDED_MS, halfClose } from "./half-close.js";
import { discardRest } from "./request-body.js";

/** A rest up to this many announced bytes is worth keeping the connection for. */
export const SMALL_REST = 65_536;

export function restIsSmall(incoming: IncomingMessage): boolean {
  const announced = incoming.headers["content-length"];
  return announced !== undefined && incoming.headers.expect === undefined && Number(announced) <= SMALL_REST;
}

/** To be called when the answer is out: sees to it that the next request on the connection can be read, or that it ends. */
export function keepAfter({ incoming, connection: { socket }, clock, sealed }: Exchange): void {
  const isStanding = incoming.destroyed || incoming.readableFlowing === false;
  // Who reads on to the end may do so, and what nobody has touched Node throws away itself.
  if (isStanding) discardRest(incoming, socket);
  if (incoming.complete || (!isStanding && !sealed && isListenedTo(incoming))) return;
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
