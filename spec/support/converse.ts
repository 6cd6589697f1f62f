/** Speaks over a bare socket, for what no HTTP client would send: writes the parts in turn and returns everything that came back. */
import { connect } from "node:net";

/** Parts are written one turn of the event loop apart, so that the server sees them arrive one by one. */
export async function converse(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A reset is an end like any other here: what was read before it counts.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  for (const part of parts) {
    if (socket.destroyed) break;
    await new Promise<void>((resolve) => socket.write(part, () => resolve()));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return Buffer.concat(chunks).toString("latin1");
}
