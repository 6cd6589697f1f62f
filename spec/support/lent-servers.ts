/**
 * Servers that the files of one process of mocha use one after the other, because a start costs a quarter of a second of a processor. A
 * file that needs other settings, or changes some, starts another server. Between two users a server is emptied; where that
 * fails it ends, and the next user gets a new one.
 */

export interface Lendable {
  /** Ends the connections of all clients and removes all objects that they have created. Rejects if an object is left. */
  empty(): Promise<void>;
  /** Stops the server; no file uses it afterwards. */
  end(): Promise<void>;
  /** While a server has no user, it does not keep this process alive. */
  ref(): void;
  unref(): void;
}

export class LentServers<Server extends Lendable> {
  private readonly free: Server[] = [];

  constructor(private readonly start: () => Promise<Server>) {}

  async lend(): Promise<Server> {
    const server = this.free.pop() ?? (await this.start());
    server.ref();
    return server;
  }

  async takeBack(server: Server): Promise<void> {
    try {
      await server.empty();
    } catch {
      // A test has ended it, or has created an object that the emptying does not know.
      await server.end();
      return;
    }
    server.unref();
    this.free.push(server);
  }
}
