/**
 * A connection of the driver for MariaDB and MySQL: statements, transactions, and the cancelling of a statement whose request has ended.
 *
 * A cancel is `KILL QUERY` on a control connection, and has a second. Until it is settled the connection is not used again. A cancelled
 * write outside of a transaction is reported as unknown: a table without transactions keeps a half-done write.
 */
import { cancellable } from "../db/cancellable.js";
import { UnknownOutcomeError } from "../db/database-error.js";
import { DriverError } from "../db/driver-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement, TransactionStatus } from "../db/driver.js";
import type { PoolMember } from "../db/pool-member.js";
import { throwIfAborted } from "../runtime/abortable.js";
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import type { KillRequests } from "./kill-request.js";
import type { MysqlClient } from "./mysql-client.js";
import { mysqlFailure } from "./mysql-failure.js";

const CANCEL_LIMIT_MS = 1000;
const ROLLBACK_LIMIT_MS = 5000;

/** Where a connection goes after its use. */
export interface MysqlOwner {
  giveBack(connection: MysqlConnection): void;
  discard(connection: MysqlConnection): void;
}

export interface MysqlParts {
  readonly client: MysqlClient;
  readonly owner: MysqlOwner;
  readonly kills: KillRequests;
  readonly clock: Clock;
  /** For errors: the name of the database. */
  readonly database: string;
}

export class MysqlConnection implements DriverConnection, PoolMember {
  lastStatement: string | undefined = undefined;
  private readonly client: MysqlClient;

  constructor(private readonly parts: MysqlParts) {
    this.client = parts.client;
    this.client.onClosed = () => parts.owner.discard(this);
  }

  get transactionStatus(): TransactionStatus {
    return this.client.status;
  }

  get isReusable(): boolean {
    return !this.client.isClosed && !this.client.isBusy && this.client.status === "none";
  }

  query(statement: DriverStatement): Promise<DriverResult> {
    throwIfAborted(statement);
    const { sql, isRead, parameters } = statement;
    const mayBeUnknown = this.client.status === "none" && !isRead && !this.client.isClosed;
    this.lastStatement = sql;
    return cancellable(statement, {
      running: this.client.send(sql, parameters),
      cancel: (running) => this.cancel(running),
      errorOf: (error, isCancelled) => {
        if (mayBeUnknown && (isCancelled || isLost(error))) return this.unknown();
        return isCancelled ? statement.signal?.reason : error;
      },
    });
  }

  /** Ends with its signal: a server that hangs must not keep the connection of each request. */
  async begin({ readOnly, isolation, signal }: BeginOptions): Promise<void> {
    throwIfAborted({ signal });
    const start = `start transaction${readOnly ? " read only" : ""}`;
    const statements = isolation === undefined ? [start] : [`set transaction isolation level ${isolation}`, start];
    try {
      for (const sql of statements) await this.query({ sql, parameters: [], isRead: true, signal });
    } catch (error) {
      // The server may have begun the transaction, or may keep the isolation level for the next one.
      this.destroy();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await this.client.send("commit");
  }

  /** A server that does not answer must not hold the caller for ever. */
  async rollback(): Promise<void> {
    if ((await within(this.parts.clock, ROLLBACK_LIMIT_MS, this.client.send("rollback"))) !== OVERDUE) return;
    throw new DriverError({ kind: "connection", code: "ROLLBACK_TIMEOUT", text: "the rollback was not answered" });
  }

  release(): void {
    this.parts.owner.giveBack(this);
  }

  destroy(): void {
    this.client.destroy();
    this.parts.owner.discard(this);
  }

  close(): void {
    this.client.close();
  }

  private async cancel(running: Promise<unknown>): Promise<void> {
    const limit = new AbortController();
    const settled = this.settled(running, limit.signal);
    if ((await within(this.parts.clock, CANCEL_LIMIT_MS, settled)) !== OVERDUE) return;
    limit.abort(new DriverError({ kind: "connection", code: "CANCEL_TIMEOUT" }));
    this.destroy();
  }

  private async settled(running: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const { client } = this;
    const ended = running.then(ignore, ignore);
    const isSent = await this.parts.kills.send(client.threadId, () => client.isBusy && !client.isClosed, signal);
    await ended;
    // The cancel request may arrive after the statement has ended. Then it cancels this statement, and not one of the next user.
    if (isSent && !client.isClosed) await client.send("do 0").then(ignore, ignore);
  }

  private unknown(): UnknownOutcomeError {
    return new UnknownOutcomeError(`a write of ${this.parts.database}`);
  }
}

function isLost(error: unknown): boolean {
  return mysqlFailure(error).kind === "connection";
}

function ignore(): void {}
