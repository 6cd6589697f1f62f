/** A wire with somebody who watches it: hands connections on to a collector, and knows which of them their client has left open. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Relay {
  /** Connections so far. */
  made = 0;
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on("connection", (socket) => this.relay(socket));
  }

  /** @param endpoint where everything goes */
  static async to(endpoint: string): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new Relay(server, Number(new URL(endpoint).port));
  }

  get endpoint(): string {
    // It listens on a port, so its address is none of a pipe.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Connections that the client has not closed. */
  get left(): number {
    return this.open.size;
  }

  close(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }

  private relay(client: Socket): void {
    this.made++;
    this.open.add(client);
    const collector = connect(this.target, "127.0.0.1");
    client.pipe(collector).on("error", () => client.destroy());
    collector.pipe(client).on("error", () => collector.destroy());
    client.once("close", () => {
      this.open.delete(client);
      collector.destroy();
    });
  }
}
