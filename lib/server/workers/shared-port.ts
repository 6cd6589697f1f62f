/**
 * The port of a parent with workers. The parent accepts each connection and passes it to the next worker that is free, without a byte of
 * it read. It keeps its copy until the worker has confirmed the connection: if the worker dies before, another worker gets it. Connections
 * that find no worker wait.
 *
 * `node:cluster` shares ports as well. But it forgets the connection that a killed worker has not confirmed, which then hangs, and it
 * closes the port when no worker is left.
 */
import net, { type AddressInfo, type Socket } from "node:net";
import { tracing } from "../../tracing/tracing.js";
import { createListenError, type ListenAddress } from "../listener.js";

const log = tracing.target("framework::workers");

/** Connections that wait for a worker. Node closes further ones. */
const MAX_WAITING = 4096;
/** As `lib/server/drain.ts`. */
const MAX_ACCEPT_ITERATIONS = 100;

/** A worker that serves connections. */
export interface ConnectionTaker {
  /** Passes the connection to the process. */
  take(socket: Socket): void;
}

export class SharedPort {
  private readonly waiting: Socket[] = [];
  /** Connections that a worker has not confirmed, at most one of each worker: so a busy worker gets fewer. */
  private readonly unconfirmed = new Map<ConnectionTaker, Socket>();
  /** In the order in which they became free. */
  private readonly free = new Set<ConnectionTaker>();
  private readonly takers = new Set<ConnectionTaker>();
  private accepted = 0;
  private closing: Promise<void> | undefined;

  private constructor(private readonly server: net.Server) {
    server.maxConnections = MAX_WAITING;
    server.on("connection", (socket) => {
      this.accepted += 1;
      socket.on("error", () => socket.destroy());
      this.waiting.push(socket);
      this.distribute();
    });
  }

  /** @throws FrameworkError `E_LISTEN`, which names the address */
  static open(address: ListenAddress): Promise<SharedPort> {
    const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
    const port = new SharedPort(server);
    return new Promise((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException): void => reject(createListenError(address, cause));
      server.once("error", fail);
      server.listen(address, () => {
        server.off("error", fail);
        // Too many open files, for example. The connection stays in the queue of the operating system.
        server.on("error", (error) => log.warn("connection not accepted", { error }));
        resolve(port);
      });
    });
  }

  get address(): AddressInfo | string | null {
    return this.server.address();
  }

  /** From now on the worker gets connections. */
  add(taker: ConnectionTaker): void {
    if (this.takers.has(taker)) return;
    this.takers.add(taker);
    if (!this.unconfirmed.has(taker)) this.free.add(taker);
    this.distribute();
  }

  /** The worker gets no more connections. It may still confirm the last one. */
  remove(taker: ConnectionTaker): void {
    this.takers.delete(taker);
    this.free.delete(taker);
  }

  /** The worker has the connection. */
  confirm(taker: ConnectionTaker): void {
    this.unconfirmed.get(taker)?.destroy();
    this.unconfirmed.delete(taker);
    if (!this.takers.has(taker)) return;
    this.free.add(taker);
    this.distribute();
  }

  /** The process of the worker has ended. Another worker gets the connection that it did not confirm. */
  release(taker: ConnectionTaker): void {
    this.remove(taker);
    const socket = this.unconfirmed.get(taker);
    this.unconfirmed.delete(taker);
    if (socket !== undefined) this.waiting.unshift(socket);
    this.distribute();
  }

  /**
   * Accepts no more connections. Those that clients have opened before still go to the workers: wait for the promise before you remove the
   * workers.
   */
  close(): Promise<void> {
    return (this.closing ??= this.acceptPending().then(() => this.closeNow()));
  }

  private async acceptPending(): Promise<void> {
    for (let iteration = 0; iteration < MAX_ACCEPT_ITERATIONS; iteration++) {
      const before = this.accepted;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (this.accepted === before) return;
    }
  }

  private closeNow(): void {
    this.server.close();
    while (this.waiting.length > 0 && this.takers.size > 0) {
      for (const taker of this.takers) {
        const socket = this.waiting.shift();
        if (socket !== undefined) taker.take(socket);
        socket?.destroy();
      }
    }
  }

  /** Closes the connections that no worker has. */
  destroyWaiting(): void {
    for (const socket of [...this.waiting.splice(0), ...this.unconfirmed.values()]) socket.destroy();
    this.unconfirmed.clear();
  }

  private distribute(): void {
    for (const taker of this.free) {
      const socket = this.waiting.shift();
      if (socket === undefined) return;
      this.free.delete(taker);
      this.unconfirmed.set(taker, socket);
      taker.take(socket);
    }
  }
}
