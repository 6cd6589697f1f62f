/**
 * Sends bytes on a new connection and collects the bytes of the response: for tests of the protocol itself, such as malformed requests,
 * which an HTTP client does not send. For other requests use `TestClient`.
 */
import net from "node:net";

/** A pause of the process counts as one step, however long it was. The process reads the bytes that have arrived before the next step. */
const STEP_MS = 10;

/** Both count the time in which the process runs. */
export interface RawOptions {
  /** After the first bytes, a silence of this many milliseconds ends the exchange; the default is 100. */
  readonly quietMs?: number;
  /** The exchange ends after this many milliseconds at the latest; the default is 2000. */
  readonly limitMs?: number;
}

/** Ends when the server closes the connection, after a silence, or at the limit. Rejects if the connection fails before the first byte. */
export function rawExchange(port: number, bytes: string | Uint8Array, options: RawOptions = {}): Promise<Buffer> {
  const { quietMs = 100, limitMs = 2000 } = options;
  const socket = net.connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    let [left, quietLeft] = [limitMs, Number.POSITIVE_INFINITY];
    const end = (): void => {
      clearInterval(steps);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const steps = setInterval(() => {
      left -= STEP_MS;
      quietLeft -= STEP_MS;
      if (left <= 0 || quietLeft <= 0) end();
    }, STEP_MS);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      // The next step may come at once.
      quietLeft = quietMs + STEP_MS;
    });
    socket.once("end", end).once("close", end);
    socket.once("error", (error) => {
      // The bytes before a reset are the response. A reset without bytes is an error that the test has to see.
      if (chunks.length === 0) reject(error);
      end();
    });
    socket.write(bytes);
  });
}
