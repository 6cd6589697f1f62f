/** A raw TCP connection to a server under test: what is written goes out as it is, what comes back is kept as text. */
import net from "node:net";
import { once } from "node:events";

export class Conversation implements AsyncDisposable {
  received = "";
  isClosed = false;
  /** Whether the other side broke it off instead of closing it. */
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

  /** Resolves as soon as `pattern` has been received; fails when the connection ends before, or after two seconds. */
  async hear(pattern: RegExp): Promise<string> {
    await this.until(() => pattern.test(this.received), `did not hear ${pattern}`);
    return this.received;
  }

  /** Resolves to everything received once the other side has ended the connection. */
  async end(): Promise<string> {
    await this.until(() => this.isClosed || this.socket.readableEnded, "the connection was not ended");
    return this.received;
  }

  /** Lets the wire come to rest, where nothing is expected to come. */
  async quiet(ms: number): Promise<void> {
    await new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isClosed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }

  private async until(holds: () => boolean, what: string): Promise<void> {
    const deadline = performance.now() + 4000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`${what}; received: ${JSON.stringify(this.received)}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
}
