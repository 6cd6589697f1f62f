/**
 * Closing a connection on which the client may still send. A socket that is closed over bytes that nobody has read makes the kernel reset
 * the connection, and every answer that the client has not received is lost; so our side is closed first, and what comes is read and thrown
 * away until the client closes too, for 2 seconds and 1 MiB at most (RFC 9112 section 9.6).
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../runtime/clock.js";

export const DISCARDED_BYTES = 1_048_576;
export const DISCARDED_MS = 2000;

const halfClosed = new WeakSet<Duplex>();

/** Whether a socket only waits for the client to close. */
export function isHalfClosed(socket: Duplex): boolean {
  return halfClosed.has(socket);
}

/** To be called when the last answer is written; `text` goes out behind it. */
export function halfClose(socket: Duplex, clock: Clock, text = ""): void {
  if (socket.destroyed || halfClosed.has(socket)) return;
  halfClosed.add(socket);
  const destroy = (): void => void socket.destroy();
  let discarded = 0;
  discardBytes(socket, (bytes) => {
    discarded += bytes;
    if (discarded > DISCARDED_BYTES) destroy();
  });
  if (socket.writable) socket.end(text);
  const timer = clock.setTimeout(destroy, DISCARDED_MS, { background: true });
  socket.once("close", () => timer.cancel());
}

/** Takes the bytes away from Node's parser, which would go on with them. */
export function discardBytes(socket: Duplex & { _paused?: boolean }, taken?: (bytes: number) => void): void {
  socket.removeAllListeners("data").on("data", (chunk: Buffer) => taken?.(chunk.length));
  // Node's note that the parser has come too far ahead of the answers; as long as it stands, Node does not let the socket read.
  socket._paused = false;
  socket.resume();
}
