/**
 * A connection of the PostgreSQL driver: statements with names, transactions, and the cancel of a statement whose request has ended.
 *
 * A cancel may take one second. If by then the sent statements have not ended, or the server has not closed the control connection, the
 * socket is destroyed. The connection is not used again before, so that the cancel cannot end another statement. Pipelined statements
 * belong to one request, and end together.
 */
import { cancellable } from "../cancellable.js";
import { UnknownOutcomeError } from "../../database-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement } from "../../driver.js";
import { ServerConnection, type ServerConnectionParts, type ServerConnectionReleaser } from "../server-connection.js";
import { type AbortListener, offAbort, onAbort, throwIfAborted } from "../../../runtime/abortable.js";
import type { CancelRequests } from "./cancel-request.js";
import type { PostgresClient, StatementSender } from "./postgres-client.js";
import { needsTypes, NO_JSON, type ParameterTypes } from "./parameter-types.js";
import { isOfChangedTable, isOfOtherType, isStalePlan, postgresFailure } from "./postgres-failure.js";
import { toBinds } from "./postgres-types.js";
import type { StatementNames } from "./statement-names.js";

export type PostgresReleaser = ServerConnectionReleaser<PostgresConnection>;

export interface ConnectionParts extends ServerConnectionParts<PostgresClient> {
  readonly cancels: CancelRequests;
  /** `undefined` behind a pooler that changes the connection. */
  readonly names: StatementNames | undefined;
  readonly types: ParameterTypes;
}

export class PostgresConnection extends ServerConnection<PostgresClient, ConnectionParts> implements DriverConnection {
  /** Set while the statements of an ended request are cancelled. */
  private cancelling: Promise<void> | undefined = undefined;
  private readonly typesVersion = this.parts.types.version;

  override get isReusable(): boolean {
    const { names, types } = this.parts;
    return super.isReusable && names?.hasChangedTable !== true && types.version === this.typesVersion;
  }

  query(statement: DriverStatement): Promise<DriverResult> {
    throwIfAborted(statement);
    const { client, names } = this.parts;
    const { sql, parameters } = statement;
    if (!client.isClosed) this.lastStatement = sql;
    const json =
      this.parts.types.find(sql, parameters) ?? (needsTypes(parameters, statement.isRead) ? undefined : NO_JSON);
    return new Promise((resolve, reject) => {
      const binds = toBinds(parameters, json);
      const sent = new SentStatement(this, this.parts, statement, resolve, reject);
      onAbort(statement, sent);
      if (json === undefined) void this.describeFirst(statement, sent);
      else client.start(sql, binds, names?.findName(sql), sent);
    });
  }

  private async describeFirst({ sql, parameters }: DriverStatement, sent: SentStatement): Promise<void> {
    const { client, names, types } = this.parts;
    try {
      const binds = toBinds(parameters, types.store(sql, await client.describe(sql)));
      // A request that has ended meanwhile executes no statement.
      if (!sent.isCancelled) return client.start(sql, binds, names?.findName(sql), sent);
      sent.failed(new Error("the request has ended"));
    } catch (error) {
      sent.failed(error);
    }
  }

  /** The signal cancels it: a server that hangs must not occupy the connection of each request. */
  async begin({ readOnly, isolation, signal }: BeginOptions): Promise<void> {
    throwIfAborted({ signal });
    const level = isolation === undefined ? "" : ` isolation level ${isolation}`;
    await cancellable(
      { signal },
      {
        running: this.client.send(`begin${level}${readOnly ? " read only" : ""}`),
        cancel: () => this.cancel(),
        translateError: (error, isCancelled) => (isCancelled ? signal?.reason : error),
      },
    );
  }

  /** Cancels the statements of a request that has ended. @internal */
  cancel(): Promise<void> {
    this.cancelling ??= this.cancelAll();
    return this.cancelling;
  }

  private async cancelAll(): Promise<void> {
    await this.cancelInTime((limit) => this.cancelEach(limit));
    this.cancelling = undefined;
  }

  /** A cancel request ends only the running statement, and the server starts the next one. */
  private async cancelEach(limit: AbortSignal): Promise<void> {
    const { client } = this;
    const { cancels } = this.parts;
    const { processID: processId, secretKey } = client.session;
    const isRunning = (): boolean => client.isBusy;
    let isSent = false;
    while (client.isBusy) {
      const nextReady = new Promise<void>((resolve) => client.onNextReady(resolve));
      isSent = (await cancels.send({ processId, secretKey, isRunning }, limit)) || isSent;
      await nextReady;
    }
    // The cancel request may arrive after the end of the statement. Then it cancels this empty statement, and not one of the next user.
    if (isSent && !client.isClosed) await client.send("").then(ignore, ignore);
  }
}

/** A sent statement. If its request ends first, the statement is cancelled, and settles after the cancel. */
class SentStatement implements StatementSender, AbortListener {
  private readonly isOutsideTransaction: boolean;
  private cancelled: Promise<void> | undefined = undefined;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly parts: ConnectionParts,
    private readonly statement: DriverStatement,
    private readonly resolve: (result: DriverResult | Promise<DriverResult>) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.isOutsideTransaction = connection.transactionStatus === "none";
  }

  handleEvent(): void {
    this.cancelled = this.connection.cancel();
  }

  ended(result: DriverResult): void {
    const { cancelled } = this;
    offAbort(this.statement, this);
    this.resolve(cancelled === undefined ? result : cancelled.then(() => result));
  }

  /** True if the request ended before the statement did. */
  get isCancelled(): boolean {
    return this.cancelled !== undefined;
  }

  failed(error: unknown): void {
    const { cancelled } = this;
    offAbort(this.statement, this);
    if (cancelled === undefined) this.reject(this.translateError(error));
    else cancelled.then(() => this.reject(this.translateError(error)), this.reject);
  }

  sendsAgain(failure: Error): boolean {
    const { client, names, types } = this.parts;
    const isStale = isStalePlan(failure);
    // A table has changed since the server prepared the plan. The statement was not executed.
    if (names === undefined || !(isStale || isOfOtherType(failure))) return false;
    names.forget(this.statement.sql);
    names.hasChangedTable ||= isOfChangedTable(failure);
    if (isStale) types.clear();
    else types.delete(this.statement.sql);
    // The binds may be wrong for the new type of a column.
    return isStale && client.status === "none";
  }

  waited(ms: number): void {
    this.statement.waitedMs = Math.max(0, ms);
  }

  private translateError(error: unknown): unknown {
    const { connection, statement } = this;
    // Without a lost connection, the server has rolled the cancelled statement back.
    if (this.cancelled !== undefined && (statement.isRead || connection.transactionStatus !== "none" || !isLost(error)))
      return statement.signal?.reason;
    // A write outside of a transaction may have succeeded before the connection was lost.
    const isUnknown =
      this.isOutsideTransaction && !statement.isRead && isLost(error) && connection.lastStatement === statement.sql;
    return isUnknown ? new UnknownOutcomeError(`a write of ${this.parts.database}`) : error;
  }
}

function isLost(error: unknown): boolean {
  return postgresFailure(error).kind === "connection";
}

function ignore(): void {}
