/**
 * Closes a connection on which the client may still send. If a socket closes with bytes that were not read, the kernel resets the
 * connection, and the client loses answers. So our side closes first, and bytes are read and discarded until the client closes too, for 2
 * seconds and 1 MiB at most (RFC 9112 section 9.6).
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

/** To be called when the last answer is written; `text` is sent behind it. */
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

/** Keeps the bytes from Node's parser, and discards them. */
export function discardBytes(socket: Duplex & { _paused?: boolean }, taken?: (bytes: number) => void): void {
  socket.removeAllListeners("data").on("data", (chunk: Buffer) => taken?.(chunk.length));
  // Node sets this when the parser is too far ahead of the answers, and then does not let the socket read.
  socket._paused = false;
  socket.resume();
}
