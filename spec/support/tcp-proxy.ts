/**
 * A proxy between a program and a server over TCP: it delays the bytes, or cuts the connection in place of a response of the server, which
 * has done its work by then.
 *
 * @example
 * await using proxy = await TcpProxy.start(server.url, 50);
 * proxy.cutsAt = (bytes) => bytes.includes(id);
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class TcpProxy implements AsyncDisposable {
  /**
   * Called for each piece that passes, until it returns true. Then the piece of the server, or its next one after a piece of the client, is dropped,
   * and the connection is cut.
   */
  cutsAt: ((bytes: Buffer, from: "client" | "server") => boolean) | undefined;
  /** The number of connections that were cut. */
  cuts = 0;
  private readonly sockets = new Set<Socket>();
  private readonly listener: Server;

  private isDown = false;

  private constructor(
    private readonly target: URL,
    private delayMs: number,
  ) {
    this.listener = createServer((client) => this.relay(client));
  }

  /** @param delayMs in each direction */
  static async start(url: string, delayMs = 0): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url), delayMs);
    await new Promise<void>((resolve) => proxy.listener.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** The URL of the server, with the port of the proxy. */
  get url(): string {
    const url = new URL(this.target);
    // A listener on a port has an address of this kind.
    url.port = String((this.listener.address() as AddressInfo).port);
    return url.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  /** Cuts all connections. Later ones have this delay, or fail at once while the server seems to be down. */
  become({ delayMs = 0, isDown = false }: { readonly delayMs?: number; readonly isDown?: boolean }): void {
    this.delayMs = delayMs;
    this.isDown = isDown;
    for (const socket of this.sockets) socket.destroy();
  }

  private relay(client: Socket): void {
    const { delayMs } = this;
    if (this.isDown) {
      client.on("error", () => {}).destroy();
      return;
    }
    const server = connect(Number(this.target.port), this.target.hostname);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.setNoDelay(true).on("error", end).on("close", end);
      socket.on("close", () => this.sockets.delete(socket));
    }
    let isDue = false;
    const ask = (bytes: Buffer, from: "client" | "server"): void => {
      if (this.cutsAt?.(bytes, from) !== true) return;
      this.cutsAt = undefined;
      isDue = true;
    };
    client.on("data", (bytes) => {
      ask(bytes, "client");
      later(delayMs, () => server.write(bytes));
    });
    server.on("data", (bytes) => {
      ask(bytes, "server");
      if (!isDue) return later(delayMs, () => client.write(bytes));
      this.cuts += 1;
      end();
    });
  }
}

function later(delayMs: number, send: () => void): void {
  if (delayMs === 0) send();
  else setTimeout(send, delayMs);
}
