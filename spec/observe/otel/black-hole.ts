/** A server that accepts connections, reads no bytes and sends none. */
import { createServer, type Server, type Socket } from "node:net";
import { listening, type Listening } from "../../support/listening.js";

export class BlackHole {
  private readonly sockets: Socket[] = [];

  private constructor(private readonly listener: Listening<Server>) {
    listener.server.on("connection", (socket) => this.sockets.push(socket.on("error", () => {})));
  }

  static async open(): Promise<BlackHole> {
    return new BlackHole(await listening(createServer()));
  }

  get endpoint(): string {
    return this.listener.url;
  }

  close(): void {
    this.listener.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
