/**
 * A connection of the driver for MariaDB and MySQL: statements, transactions, and the cancelling of a statement whose request has ended.
 *
 * A cancel is `KILL QUERY` on a control connection, and has a second. Until it is settled the connection is not used again. A cancelled
 * write outside of a transaction is reported as unknown: a table without transactions keeps half of it.
 */
import { UnknownOutcomeError } from "../db/database-error.js";
import { DriverError } from "../db/driver-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement, TransactionStatus } from "../db/driver.js";
import type { PoolMember } from "../db/pool.js";
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

  async query(statement: DriverStatement): Promise<DriverResult> {
    const { signal, sql, isRead } = statement;
    signal?.throwIfAborted();
    const mayBeUnknown = this.client.status === "none" && !isRead && !this.client.isClosed;
    this.lastStatement = sql;
    try {
      return await (signal === undefined
        ? this.client.send(sql, statement.parameters)
        : this.runUntil(signal, statement, mayBeUnknown));
    } catch (error) {
      throw mayBeUnknown && isLost(error) ? this.unknown() : error;
    }
  }

  async begin({ readOnly, isolation }: BeginOptions): Promise<void> {
    if (isolation !== undefined) await this.client.send(`set transaction isolation level ${isolation}`);
    await this.client.send(`start transaction${readOnly ? " read only" : ""}`);
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

  private async runUntil(
    signal: AbortSignal,
    statement: DriverStatement,
    mayBeUnknown: boolean,
  ): Promise<DriverResult> {
    const running = this.client.send(statement.sql, statement.parameters);
    let cancelling: Promise<void> | undefined;
    const abort = (): void => {
      cancelling = this.cancel(running);
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await running;
    } catch (error) {
      if (cancelling === undefined) throw error;
      throw mayBeUnknown ? this.unknown() : signal.reason;
    } finally {
      signal.removeEventListener("abort", abort);
      await cancelling;
    }
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
    // The request may arrive after the statement has ended: then it hits this one, and not the next user's.
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
