/**
 * The common part of the connections to a server: the status of the transaction, its end, a cancel with a time limit, and the return to the
 * pool. The driver of an engine sends and cancels the statements.
 *
 * Not for SQLite, whose connections have no server that can hang.
 */
import { type Clock, OVERDUE, within } from "../../runtime/clock.js";
import { DriverError } from "../driver-error.js";
import type { TransactionStatus } from "../driver.js";
import type { PoolMember } from "../pool/pool-member.js";

const CANCEL_LIMIT_MS = 1000;
const ROLLBACK_LIMIT_MS = 5000;

/** The client of the engine's package. */
export interface ServerClient {
  readonly status: TransactionStatus;
  readonly isClosed: boolean;
  readonly isBusy: boolean;
  /** Called once, when the server has closed the connection. */
  onClosed: (() => void) | undefined;
  send(sql: string): Promise<unknown>;
  /** Closes with a message to the server, where that is possible. */
  close(): void;
  destroy(): void;
}

/** Returns a connection to the pool after its use, or closes it. */
export interface ServerConnectionReleaser<Connection> {
  release(connection: Connection): void;
  discard(connection: Connection): void;
}

export interface ServerConnectionParts<Client> {
  readonly client: Client;
  readonly releaser: ServerConnectionReleaser<ServerConnection>;
  readonly clock: Clock;
  /** For errors: the name of the database. */
  readonly database: string;
}

export abstract class ServerConnection<
  Client extends ServerClient = ServerClient,
  Parts extends ServerConnectionParts<Client> = ServerConnectionParts<Client>,
> implements PoolMember {
  lastStatement: string | undefined = undefined;
  protected readonly client: Client;

  constructor(protected readonly parts: Parts) {
    this.client = parts.client;
    this.client.onClosed = () => parts.releaser.discard(this);
  }

  get transactionStatus(): TransactionStatus {
    return this.client.status;
  }

  get isReusable(): boolean {
    const { client } = this;
    return !client.isClosed && !client.isBusy && client.status === "none";
  }

  async commit(): Promise<void> {
    await this.client.send("commit");
  }

  /** A server that does not respond must not block the caller for ever. */
  async rollback(): Promise<void> {
    if ((await within(this.parts.clock, ROLLBACK_LIMIT_MS, this.client.send("rollback"))) !== OVERDUE) return;
    throw new DriverError({
      kind: "connection",
      code: "ROLLBACK_TIMEOUT",
      text: "the server did not respond to the rollback",
    });
  }

  release(): void {
    this.parts.releaser.release(this);
  }

  destroy(): void {
    this.client.destroy();
    this.parts.releaser.discard(this);
  }

  close(): void {
    this.client.close();
  }

  /** Destroys the connection if the cancel is not settled within a second. The signal then closes the control connection. */
  protected async cancelInTime(cancel: (limit: AbortSignal) => Promise<void>): Promise<void> {
    const limit = new AbortController();
    if ((await within(this.parts.clock, CANCEL_LIMIT_MS, cancel(limit.signal))) !== OVERDUE) return;
    limit.abort(new DriverError({ kind: "connection", code: "CANCEL_TIMEOUT" }));
    this.destroy();
  }
}
