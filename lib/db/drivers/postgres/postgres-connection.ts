/**
 * A connection of the PostgreSQL driver: statements with names, transactions, and the cancelling of a statement whose request has ended.
 *
 * A cancel may take one second. If the server has not answered the sent statements and closed the control connection by then, the socket is
 * destroyed. Until then the connection is not used again, so that the cancel cannot hit another statement. Statements that are sent ahead
 * are those of one request, and end together.
 */
import { cancellable } from "../cancellable.js";
import { UnknownOutcomeError } from "../../database-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement } from "../../driver.js";
import { type ServerConnectionOwner, ServerConnection } from "../server-connection.js";
import { type AbortListener, offAbort, onAbort, throwIfAborted } from "../../../runtime/abortable.js";
import type { Clock } from "../../../runtime/clock.js";
import type { CancelRequests } from "./cancel-request.js";
import type { PostgresClient, StatementSender } from "./postgres-client.js";
import { needsTypes, NO_JSON, type ParameterTypes } from "./parameter-types.js";
import { isOfChangedTable, isOfOtherType, isStalePlan, postgresFailure } from "./postgres-failure.js";
import { bindsOf } from "./postgres-types.js";
import type { StatementNames } from "./statement-names.js";

export type PostgresOwner = ServerConnectionOwner<PostgresConnection>;

export interface ConnectionParts {
  readonly client: PostgresClient;
  readonly owner: PostgresOwner;
  readonly cancels: CancelRequests;
  readonly clock: Clock;
  /** For errors: the name of the database. */
  readonly database: string;
  /** `undefined` behind a pooler that changes the connection. */
  readonly names: StatementNames | undefined;
  readonly types: ParameterTypes;
}

export class PostgresConnection extends ServerConnection implements DriverConnection {
  protected readonly client: PostgresClient;
  protected readonly owner: PostgresOwner;
  protected readonly clock: Clock;
  /** Set while the statements of a request that has ended are cancelled. */
  private cancelling: Promise<void> | undefined = undefined;
  private readonly typesVersion: number;

  constructor(private readonly parts: ConnectionParts) {
    super();
    this.client = parts.client;
    this.owner = parts.owner;
    this.clock = parts.clock;
    this.typesVersion = parts.types.version;
    this.client.onClosed = () => parts.owner.discard(this);
  }

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
      this.parts.types.of(sql, parameters) ?? (needsTypes(parameters, statement.isRead) ? undefined : NO_JSON);
    return new Promise((resolve, reject) => {
      const binds = bindsOf(parameters, json);
      const sent = new SentStatement(this, this.parts, statement, resolve, reject);
      onAbort(statement, sent);
      if (json === undefined) void this.describeFirst(statement, sent);
      else client.start(sql, binds, names?.nameOf(sql), sent);
    });
  }

  private async describeFirst({ sql, parameters }: DriverStatement, sent: SentStatement): Promise<void> {
    const { client, names, types } = this.parts;
    try {
      const binds = bindsOf(parameters, types.keep(sql, await client.describe(sql)));
      // A request that has ended meanwhile executes nothing.
      if (!sent.hasEnded) return client.start(sql, binds, names?.nameOf(sql), sent);
      sent.failed(new Error("the request has ended"));
    } catch (error) {
      sent.failed(error);
    }
  }

  /** Ends with its signal: a server that hangs must not keep the connection of each request. */
  async begin({ readOnly, isolation, signal }: BeginOptions): Promise<void> {
    throwIfAborted({ signal });
    const level = isolation === undefined ? "" : ` isolation level ${isolation}`;
    await cancellable(
      { signal },
      {
        running: this.client.send(`begin${level}${readOnly ? " read only" : ""}`),
        cancel: () => this.cancel(),
        errorOf: (error, isCancelled) => (isCancelled ? signal?.reason : error),
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

  /** A request ends the statement that the server works on, and the server begins the next one. */
  private async cancelEach(limit: AbortSignal): Promise<void> {
    const { client } = this;
    const { cancels } = this.parts;
    const { processID: processId, secretKey } = client.session;
    const isRunning = (): boolean => client.isBusy;
    let isSent = false;
    while (client.isBusy) {
      const answered = new Promise<void>((resolve) => client.atNextReady(resolve));
      isSent = (await cancels.send({ processId, secretKey, isRunning }, limit)) || isSent;
      await answered;
    }
    // The cancel request may arrive after the statement has ended. Then it cancels this empty statement, and not one of the next user.
    if (isSent && !client.isClosed) await client.send("").then(ignore, ignore);
  }
}

/** The end of a statement that was sent. If its request ends first, it is cancelled, and ends after the cancel. */
class SentStatement implements StatementSender, AbortListener {
  private readonly isAlone: boolean;
  private cancelled: Promise<void> | undefined = undefined;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly parts: ConnectionParts,
    private readonly statement: DriverStatement,
    private readonly resolve: (result: DriverResult | Promise<DriverResult>) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.isAlone = connection.transactionStatus === "none";
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
  get hasEnded(): boolean {
    return this.cancelled !== undefined;
  }

  failed(error: unknown): void {
    const { cancelled } = this;
    offAbort(this.statement, this);
    if (cancelled === undefined) this.reject(this.errorOf(error));
    else cancelled.then(() => this.reject(this.errorOf(error)), this.reject);
  }

  sendsAgain(failure: Error): boolean {
    const { client, names, types } = this.parts;
    const isStale = isStalePlan(failure);
    // A table has changed since the server made the plan. It has executed nothing.
    if (names === undefined || !(isStale || isOfOtherType(failure))) return false;
    names.forget(this.statement.sql);
    names.hasChangedTable ||= isOfChangedTable(failure);
    if (isStale) types.clear();
    else types.forget(this.statement.sql);
    // The binds may be wrong for the new type of a column.
    return isStale && client.status === "none";
  }

  waited(ms: number): void {
    this.statement.waitedMs = Math.max(0, ms);
  }

  private errorOf(error: unknown): unknown {
    const { connection, statement } = this;
    // The server has answered a statement that it cancelled, and has undone it.
    if (this.cancelled !== undefined && (statement.isRead || connection.transactionStatus !== "none" || !isLost(error)))
      return statement.signal?.reason;
    // A write outside of a transaction may have been made before the connection was lost.
    const isUnknown = this.isAlone && !statement.isRead && isLost(error) && connection.lastStatement === statement.sql;
    return isUnknown ? new UnknownOutcomeError(`a write of ${this.parts.database}`) : error;
  }
}

function isLost(error: unknown): boolean {
  return postgresFailure(error).kind === "connection";
}

function ignore(): void {}
