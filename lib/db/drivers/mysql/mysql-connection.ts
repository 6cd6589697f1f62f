/**
 * A connection of the driver for MariaDB and MySQL: statements, transactions, and the cancel of a statement whose request has ended.
 *
 * A cancel is `KILL QUERY` on a control connection, with a time limit of one second. The connection is not used again before the cancel has
 * settled. The outcome of a cancelled write outside of a transaction is unknown: in a table without transactions a part of it may stay.
 */
import { cancellable } from "../cancellable.js";
import { UnknownOutcomeError } from "../../database-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement } from "../../driver.js";
import { ServerConnection, type ServerConnectionParts, type ServerConnectionReleaser } from "../server-connection.js";
import { throwIfAborted } from "../../../runtime/abortable.js";
import type { KillRequests } from "./kill-request.js";
import type { MysqlClient } from "./mysql-client.js";
import { mysqlFailure, statementError } from "./mysql-failure.js";

export type MysqlReleaser = ServerConnectionReleaser<MysqlConnection>;

export interface MysqlParts extends ServerConnectionParts<MysqlClient> {
  readonly kills: KillRequests;
}

export class MysqlConnection extends ServerConnection<MysqlClient, MysqlParts> implements DriverConnection {
  query(statement: DriverStatement): Promise<DriverResult> {
    throwIfAborted(statement);
    const { sql, isRead, parameters } = statement;
    const mayBeUnknown = this.client.status === "none" && !isRead && !this.client.isClosed;
    this.lastStatement = sql;
    return cancellable(statement, {
      running: this.client.send(sql, parameters),
      cancel: (running) => this.cancel(running),
      translateError: (error, isCancelled) => {
        if (mayBeUnknown && (isCancelled || isLost(error))) return this.unknownOutcomeError();
        return isCancelled ? statement.signal?.reason : statementError(error, parameters);
      },
    });
  }

  /** The signal cancels it: a server that hangs must not occupy the connection of each request. */
  async begin({ readOnly, isolation, signal }: BeginOptions): Promise<void> {
    throwIfAborted({ signal });
    const start = `start transaction${readOnly ? " read only" : ""}`;
    const statements = isolation === undefined ? [start] : [`set transaction isolation level ${isolation}`, start];
    try {
      for (const sql of statements) await this.query({ sql, parameters: [], isRead: true, signal });
    } catch (error) {
      // The server may have opened the transaction, or may apply the isolation level to the next one.
      this.destroy();
      throw error;
    }
  }

  private cancel(running: Promise<unknown>): Promise<void> {
    return this.cancelInTime((limit) => this.waitForCancel(running, limit));
  }

  private async waitForCancel(running: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const { client } = this;
    const ended = running.then(ignore, ignore);
    const isSent = await this.parts.kills.send(client.threadId, () => client.isBusy && !client.isClosed, signal);
    await ended;
    // The cancel request may arrive after the end of the statement. Then it cancels this statement, and not one of the next user.
    if (isSent && !client.isClosed) await client.send("do 0").then(ignore, ignore);
  }

  private unknownOutcomeError(): UnknownOutcomeError {
    return new UnknownOutcomeError(`a write of ${this.parts.database}`);
  }
}

function isLost(error: unknown): boolean {
  return mysqlFailure(error).kind === "connection";
}

function ignore(): void {}
