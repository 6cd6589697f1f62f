/**
 * The listener of a worker: its connections come from the parent, which owns the port. To the rest of the server it is a `net.Server`.
 *
 * @example
 * const passed = new PassedConnections(link, address);
 * const listener = Listener.fromExisting(passed, requests);
 * link.tell("linked"); // the parent passes connections from now on
 */
import net, { type AddressInfo, type Socket } from "node:net";
import type { MessageLink } from "./worker-link.js";

export class PassedConnections extends net.Server {
  private readonly sockets = new Set<Socket>();
  private isClosing = false;
  /** The parent passes no more connections. */
  private isReleased = false;
  private isCounting = false;

  constructor(
    private readonly parent: MessageLink,
    private readonly at: AddressInfo | string | null,
  ) {
    super();
    parent.hear("connection", (_body, socket) => {
      if (socket !== undefined) this.accept(socket);
      parent.tell("confirmed", this.sockets.size);
    });
    parent.hear("released", () => this.release());
  }

  override address(): AddressInfo | string | null {
    return this.at;
  }

  /** Asks the parent for no more connections. Those that are under way are served. */
  override close(): this {
    if (this.isClosing) return this;
    this.isClosing = true;
    this.parent.tell("closing");
    this.emitCloseIfEmpty();
    return this;
  }

  override getConnections(callback: (error: Error | null, count: number) => void): this {
    callback(null, this.sockets.size);
    return this;
  }

  /** Called also if the parent has ended. */
  release(): void {
    this.isReleased = true;
    this.emitCloseIfEmpty();
  }

  /** As Node does for the connections of an `http.Server`. */
  private accept(socket: Socket): void {
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    this.sockets.add(socket);
    socket.once("close", () => {
      this.sockets.delete(socket);
      this.emitCloseIfEmpty();
      this.tellCount();
    });
    this.emit("connection", socket);
  }

  /** Once for all connections that close in one turn of the event loop. */
  private tellCount(): void {
    if (this.isCounting) return;
    this.isCounting = true;
    setImmediate(() => {
      this.isCounting = false;
      if (!this.isReleased) this.parent.tell("count", this.sockets.size);
    });
  }

  private emitCloseIfEmpty(): void {
    if (!this.isClosing || !this.isReleased || this.sockets.size > 0) return;
    process.nextTick(() => this.emit("close"));
  }
}
