/** A raw TCP connection to a server under test. It sends text unchanged and keeps the received text. */
import net from "node:net";
import { once } from "node:events";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";

/** Longer than a busy machine takes. The timeout of a test is shorter. */
const LIMIT_MS = 60_000;
/** A process that was stopped for a moment runs its timers before it reads the bytes that arrived. This many iterations later it has read them. */
const TURNS = 20;

export class Conversation implements AsyncDisposable {
  received = "";
  isClosed = false;
  /** Whether the server reset the connection. */
  wasReset = false;

  private constructor(readonly socket: net.Socket) {
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.received += text;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.wasReset ||= error.code === "ECONNRESET" || error.code === "EPIPE";
    });
    socket.on("close", () => {
      this.isClosed = true;
    });
  }

  static async with(port: number): Promise<Conversation> {
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return new Conversation(socket);
  }

  say(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Resolves to the received text when `pattern` matches it. */
  async hear(pattern: RegExp): Promise<string> {
    await this.until(() => pattern.test(this.received), `did not hear ${pattern}`);
    return this.received;
  }

  /** Resolves to the received text when the server has ended the connection. */
  async end(): Promise<string> {
    await this.until(() => this.isClosed || this.socket.readableEnded, "the connection was not ended");
    return this.received;
  }

  /** Waits, in a test that expects no bytes. By then the work of this process on earlier bytes has ended. */
  async quiet(ms: number): Promise<void> {
    await pause(ms);
    for (let turns = 0; turns < TURNS; turns++) await turn();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isClosed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }

  private async until(holds: () => boolean, failure: string): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`${failure}; received: ${JSON.stringify(this.received)}`);
      await pause(5);
    }
  }
}
