/** A port that accepts, reads nothing and says nothing. */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class BlackHole {
  private readonly sockets: Socket[] = [];

  private constructor(private readonly server: Server) {
    server.on("connection", (socket) => this.sockets.push(socket.on("error", () => {})));
  }

  static async open(): Promise<BlackHole> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new BlackHole(server);
  }

  get endpoint(): string {
    // It listens on a port, so its address is none of a pipe.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
