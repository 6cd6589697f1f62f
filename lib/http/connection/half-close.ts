/**
 * Closes a connection on which the client may still send. If a socket closes with bytes that were not read, the kernel resets the
 * connection, and the client loses responses. So the server closes its direction first. Then it reads and discards bytes until the client
 * closes too, for 2 seconds (RFC 9112 section 9.6). After 1 MiB it reads nothing more.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../runtime/clock.js";

export const MAX_DISCARDED_BYTES = 1_048_576;
export const MAX_DISCARD_MS = 2000;

const halfClosed = new WeakSet<Duplex>();

/** Whether the server has closed its direction of a socket, and waits for the client to close. */
export function isHalfClosed(socket: Duplex): boolean {
  return halfClosed.has(socket);
}

/** Closes the server's direction. Call it when the last response is written; `text` is sent after it. */
export function halfClose(socket: Duplex, clock: Clock, text = ""): void {
  if (socket.destroyed || halfClosed.has(socket)) return;
  halfClosed.add(socket);
  const destroy = (): void => void socket.destroy();
  let discarded = 0;
  discardBytes(socket, (bytes) => {
    discarded += bytes;
    if (discarded > MAX_DISCARDED_BYTES) socket.pause();
  });
  if (socket.writable) socket.end(text);
  const timer = clock.setTimeout(destroy, MAX_DISCARD_MS, { background: true });
  socket.once("close", () => timer.cancel());
}

/** Discards the bytes that the client sends. Node's parser does not get them. */
export function discardBytes(socket: Duplex, onDiscard?: (bytes: number) => void): void {
  socket.removeAllListeners("data").on("data", (chunk: Buffer) => onDiscard?.(chunk.length));
  // Node's listener pauses the socket again if too many requests wait for their responses.
  socket.removeAllListeners("resume").resume();
  // The listener for `data` moves the socket from Node's parser to the stream. The stream does not know whether the parser has stopped
  // reading, so reading is started here.
  socket._read(0);
}
