/**
 * A connection of the PostgreSQL driver: statements with names, transactions, and the cancelling of a statement whose request has ended.
 *
 * A cancel has a second. Within it the server must have answered the statement and closed the control connection, else the socket is
 * destroyed. Until then the connection is not used again, so that the cancel cannot hit another statement.
 */
import { UnknownOutcomeError } from "../db/database-error.js";
import { DriverError } from "../db/driver-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement, TransactionStatus } from "../db/driver.js";
import type { PoolMember } from "../db/pool.js";
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import type { CancelRequests } from "./cancel-request.js";
import type { PostgresClient } from "./postgres-client.js";
import { isStalePlan, postgresFailure } from "./postgres-failure.js";
import type { StatementNames } from "./statement-names.js";

const CANCEL_LIMIT_MS = 1000;
const ROLLBACK_LIMIT_MS = 5000;

/** Where a connection goes after its use. */
export interface PostgresOwner {
  giveBack(connection: PostgresConnection): void;
  discard(connection: PostgresConnection): void;
}

export interface ConnectionParts {
  readonly client: PostgresClient;
  readonly owner: PostgresOwner;
  readonly cancels: CancelRequests;
  readonly clock: Clock;
  /** For errors: the name of the database. */
  readonly database: string;
  /** `undefined` behind a pooler that changes the connection. */
  readonly names: StatementNames | undefined;
}

export class PostgresConnection implements DriverConnection, PoolMember {
  lastStatement: string | undefined = undefined;
  private readonly client: PostgresClient;

  constructor(private readonly parts: ConnectionParts) {
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
    const { signal } = statement;
    signal?.throwIfAborted();
    const isAlone = this.client.status === "none";
    try {
      return await (signal === undefined ? this.run(statement) : this.runUntil(signal, statement));
    } catch (error) {
      // A write outside of a transaction may have been made before the connection was lost.
      const isUnknown = isAlone && !statement.isRead && isLost(error) && this.lastStatement === statement.sql;
      throw isUnknown ? new UnknownOutcomeError(`a write of ${this.parts.database}`) : error;
    }
  }

  async begin({ readOnly, isolation }: BeginOptions): Promise<void> {
    const level = isolation === undefined ? "" : ` isolation level ${isolation}`;
    await this.client.send(`begin${level}${readOnly ? " read only" : ""}`);
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

  private async run({ sql, parameters }: DriverStatement): Promise<DriverResult> {
    const { client } = this;
    const { names } = this.parts;
    const name = names?.nameOf(sql);
    if (!client.isClosed) this.lastStatement = sql;
    try {
      return await client.send(sql, parameters, name);
    } catch (error) {
      if (name === undefined || !isStalePlan(error)) throw error;
      // A table has changed since the server made the plan. It has executed nothing.
      names?.forget(sql);
      if (client.status !== "none") throw error;
      return client.send(sql, parameters);
    }
  }

  private async runUntil(signal: AbortSignal, statement: DriverStatement): Promise<DriverResult> {
    const running = this.run(statement);
    let cancelling: Promise<void> | undefined;
    const abort = (): void => {
      cancelling = this.cancel(running);
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await running;
    } catch (error) {
      // The server has answered a statement that it cancelled, and has undone it.
      const isEnded =
        cancelling !== undefined && (statement.isRead || this.transactionStatus !== "none" || !isLost(error));
      throw isEnded ? signal.reason : error;
    } finally {
      signal.removeEventListener("abort", abort);
      await cancelling;
    }
  }

  private async cancel(running: Promise<unknown>): Promise<void> {
    const { clock, cancels } = this.parts;
    const limit = new AbortController();
    const settled = this.settled(running, cancels, limit.signal);
    if ((await within(clock, CANCEL_LIMIT_MS, settled)) !== OVERDUE) return;
    limit.abort();
    this.destroy();
  }

  private async settled(running: Promise<unknown>, cancels: CancelRequests, signal: AbortSignal): Promise<void> {
    const { client } = this;
    const { processID: processId, secretKey } = client.session;
    const isRunning = (): boolean => client.isBusy && !client.isClosed;
    const ended = running.then(ignore, ignore);
    const isSent = await cancels.send({ processId, secretKey, isRunning }, signal);
    await ended;
    // The request may arrive after the statement has ended: then it hits this empty one, and not the next user's.
    if (isSent && !client.isClosed) await client.send("").then(ignore, ignore);
  }
}

function isLost(error: unknown): boolean {
  return postgresFailure(error).kind === "connection";
}

function ignore(): void {}
