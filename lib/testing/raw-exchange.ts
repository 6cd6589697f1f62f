/**
 * Bytes to a fresh connection, and the bytes that come back: for checks of the protocol itself, where a client would already have an
 * opinion. Ends when the other side closes, when nothing has come for a while after something came, or at the limit.
 */
import net from "node:net";

export interface RawOptions {
  /** How long the line has to be silent, once bytes came, to count as the end; 100 ms unless given. */
  readonly quietMs?: number;
  /** How long it lasts at most; 2000 ms unless given. */
  readonly limitMs?: number;
}

export function rawExchange(port: number, bytes: string | Uint8Array, options: RawOptions = {}): Promise<Buffer> {
  const { quietMs = 100, limitMs = 2000 } = options;
  const socket = net.connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(limit);
      clearTimeout(quiet);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const limit = setTimeout(end, limitMs);
    let quiet: NodeJS.Timeout | undefined;
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      quiet = setTimeout(end, quietMs);
    });
    socket.once("end", end).once("close", end);
    socket.once("error", (error) => {
      // What came before a reset is what came back; a reset before the first byte is an answer that a test must not miss.
      if (chunks.length === 0) reject(error);
      end();
    });
    socket.write(bytes);
  });
}
