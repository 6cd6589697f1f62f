/**
 * The port of a parent with workers. The parent accepts each connection and passes it to the worker that has the fewest, without a byte
 * of it read. It keeps its copy until the worker has confirmed the connection: if the worker dies before, another worker gets it. Connections
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
/** A worker that has not confirmed a connection for this time is busy: others get the next ones, also if they have more. */
const BUSY_MS = 25;

/** A worker that serves connections. */
export interface ConnectionTaker {
  /** Passes the connection to the process. */
  take(socket: Socket): void;
}

/** What the parent knows of the connections of a worker. */
interface Load {
  /** The worker gets connections. */
  isTaking: boolean;
  /** With the unconfirmed one. */
  open: number;
  /** At most one: so a busy worker gets fewer. */
  unconfirmed?: Socket | undefined;
  /** The time at which the unconfirmed one was passed. */
  passedAt: number;
}

export class SharedPort {
  private readonly waiting: Socket[] = [];
  /** The worker that got a connection last is the last one. */
  private readonly loads = new Map<ConnectionTaker, Load>();
  private accepted = 0;
  private retry: NodeJS.Timeout | undefined;
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
    const load = this.loads.get(taker);
    if (load === undefined) this.loads.set(taker, { isTaking: true, open: 0, passedAt: 0 });
    else load.isTaking = true;
    this.distribute();
  }

  /** The worker gets no more connections. It may still confirm the last one. */
  remove(taker: ConnectionTaker): void {
    const load = this.loads.get(taker);
    if (load !== undefined) load.isTaking = false;
  }

  /** The worker has the connection, and `open` connections with it. */
  confirm(taker: ConnectionTaker, open: number): void {
    const load = this.loads.get(taker);
    if (load === undefined) return;
    load.unconfirmed?.destroy();
    load.unconfirmed = undefined;
    this.count(taker, open);
  }

  /** The worker has `open` connections, without the unconfirmed one. */
  count(taker: ConnectionTaker, open: number): void {
    const load = this.loads.get(taker);
    if (load !== undefined) load.open = open + (load.unconfirmed === undefined ? 0 : 1);
    this.distribute();
  }

  /** The process of the worker has ended. Another worker gets the connection that it did not confirm. */
  release(taker: ConnectionTaker): void {
    const socket = this.loads.get(taker)?.unconfirmed;
    this.loads.delete(taker);
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
    const takers = [...this.loads].filter(([, { isTaking }]) => isTaking).map(([taker]) => taker);
    while (this.waiting.length > 0 && takers.length > 0) {
      for (const taker of takers) {
        const socket = this.waiting.shift();
        if (socket !== undefined) taker.take(socket);
        socket?.destroy();
      }
    }
  }

  /** Closes the connections that no worker has. */
  destroyWaiting(): void {
    clearTimeout(this.retry);
    for (const socket of this.waiting.splice(0)) socket.destroy();
    for (const load of this.loads.values()) {
      load.unconfirmed?.destroy();
      load.unconfirmed = undefined;
    }
  }

  private distribute(): void {
    while (this.waiting.length > 0) {
      const [taker, load] = this.choose() ?? [];
      if (taker === undefined || load === undefined) return;
      if (load.unconfirmed !== undefined) {
        // It has the fewest, and confirms soon. The worker that is free would get several in a row.
        this.retry ??= setTimeout(() => {
          this.retry = undefined;
          this.distribute();
        }, BUSY_MS);
        return;
      }
      const socket = this.waiting.shift();
      if (socket !== undefined) this.pass(socket, taker, load);
    }
  }

  private pass(socket: Socket, taker: ConnectionTaker, load: Load): void {
    load.open += 1;
    load.unconfirmed = socket;
    load.passedAt = performance.now();
    this.loads.delete(taker);
    this.loads.set(taker, load);
    taker.take(socket);
  }

  /** The worker with the fewest connections. Of several that have as many the one that waits longest. */
  private choose(): readonly [ConnectionTaker, Load] | undefined {
    const now = performance.now();
    let chosen: readonly [ConnectionTaker, Load] | undefined;
    for (const each of this.loads) {
      const [, load] = each;
      const isWaiting = load.unconfirmed !== undefined;
      if (!load.isTaking || (isWaiting && now - load.passedAt >= BUSY_MS)) continue;
      const least = chosen?.[1];
      const isFewer = least === undefined || load.open < least.open;
      if (isFewer || (load.open === least.open && !isWaiting && least.unconfirmed !== undefined)) chosen = each;
    }
    return chosen;
  }
}
