/** A TCP proxy in front of a collector. It counts the connections, and those that the client has not closed. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Relay {
  /** The number of connections so far. */
  accepted = 0;
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on("connection", (socket) => this.relay(socket));
  }

  /** @param endpoint the collector */
  static async to(endpoint: string): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new Relay(server, Number(new URL(endpoint).port));
  }

  get endpoint(): string {
    // The address of a TCP server that listens is an object.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The number of connections that the client has not closed. */
  get openCount(): number {
    return this.open.size;
  }

  close(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }

  private relay(client: Socket): void {
    this.accepted++;
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
