/**
 * Answering before the request's body was read. Closing at once would make the kernel reset the connection and take the answer
 * with it, so the rest is read and thrown away for a while first: at most 1 MiB and 2 seconds (RFC 9112 section 9.6).
 * A small rest that was announced is left to Node, which discards it and keeps the connection.
 */
import type { IncomingMessage } from "node:http";
import type { Exchange } from "./exchange.js";

/** A rest up to this many announced bytes is worth keeping the connection for. */
export const SMALL_REST = 65_536;
const LINGER_BYTES = 1_048_576;
const LINGER_MS = 2000;

export function restIsSmall(incoming: IncomingMessage): boolean {
  const announced = incoming.headers["content-length"];
  return announced !== undefined && incoming.headers.expect === undefined && Number(announced) <= SMALL_REST;
}

/** To be called before the answer is ended; the answer must carry `Connection: close`. */
export function lingerAfter(exchange: Exchange): void {
  const { incoming, clock } = exchange;
  const { socket } = incoming;
  let discarded = 0;
  const destroy = (): void => {
    timer.cancel();
    socket.destroy();
  };
  const timer = clock.setTimeout(destroy, LINGER_MS, { background: true });
  socket.once("close", () => timer.cancel());
  // Node destroys the socket as soon as the answer is written; here it only says that nothing more will come.
  socket.destroySoon = () => {
    socket.end();
    if (incoming.complete) destroy();
  };
  incoming.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) destroy();
  });
  incoming.on("end", () => {
    if (socket.writableEnded) socket.once("finish", destroy);
    if (socket.writableFinished) destroy();
  });
  incoming.on("error", destroy);
  incoming.resume();
}
