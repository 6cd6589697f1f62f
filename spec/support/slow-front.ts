/**
 * A port in front of a server that is not up yet: it closes the first connections, leaves the last of these without a response, and forwards
 * all later ones.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Listening, listening } from "./listening.js";

export class SlowFront implements Disposable {
  private readonly sockets = new Set<Socket>();
  private count = 0;
  private front: Listening<Server> | undefined;

  private constructor(
    private readonly target: number,
    private readonly fails: number,
  ) {}

  /** @param target the port of the server; @param fails the number of connections that fail */
  static async start(target: number, fails: number): Promise<SlowFront> {
    const front = new SlowFront(target, fails);
    front.front = await listening(createServer((socket) => front.take(socket)));
    return front;
  }

  get port(): number {
    return this.front?.port ?? 0;
  }

  /** The number of connections that failed. */
  get failed(): number {
    return Math.min(this.count, this.fails);
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy();
    this.front?.[Symbol.dispose]();
  }

  private take(socket: Socket): void {
    this.count += 1;
    this.keep(socket);
    if (this.count < this.fails) socket.destroy();
    if (this.count <= this.fails) return;
    const server = this.keep(connect(this.target, "127.0.0.1"));
    socket.pipe(server).pipe(socket);
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => this.sockets.delete(socket));
  }
}
