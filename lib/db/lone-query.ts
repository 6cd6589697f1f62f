/**
 * A statement outside of a transaction: it takes any connection and releases it at its end. One object is the statement, the caller that
 * waits for the connection, and the operation that is reported, because each further object and promise would cost a noticeable part of a
 * query.
 */
import type { FollowedWork } from "../lifecycle/operations.js";
import { currentWorkScope } from "../lifecycle/work-scope.js";
import { type AbortListener, offAbort, onAbort, throwIfAborted } from "../runtime/abortable.js";
import type { MaybePromise } from "./maybe-promise.js";
import { isLost } from "./database-error.js";
import type { ConnectOptions, DriverConnection, DriverResult, DriverStatement } from "./driver.js";
import type { BuiltStatement } from "./kysely.js";
import { releaseOrDestroy } from "./transactions/root-transaction.js";
import type { Statements } from "./statements.js";

/** The signal is created when the driver reads it: a query that does not wait needs no signal. */
export class LoneQuery<R> implements FollowedWork<DriverResult, R>, DriverStatement, ConnectOptions {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly isRead: boolean;
  readonly isOneRow: boolean;
  waitedMs = 0;
  private readonly scope = currentWorkScope();
  private connection: DriverConnection | undefined = undefined;
  private sentAt = 0;

  /** @param read returns the result for the caller */
  constructor(
    private readonly statements: Statements,
    { sql, parameters, isRead, isOneRow }: BuiltStatement,
    private readonly read: (result: DriverResult) => R,
  ) {
    this.sql = sql;
    this.parameters = parameters;
    this.isRead = isRead;
    this.isOneRow = isOneRow;
  }

  start(startedAt: number): MaybePromise<DriverResult> {
    throwIfAborted(this.scope);
    const { driver, host } = this.statements;
    const connection = driver.connect(this);
    if (!(connection instanceof Promise)) return this.send(connection, startedAt);
    return connection.then((given) => this.send(given, host.clock.monotonic()));
  }

  ended(result: DriverResult, now: number): R {
    this.statements.warnIfSlow(now - this.sentAt, this);
    this.connection?.release();
    return this.read(result);
  }

  /** Returns a DatabaseError, or the reason of the signal of the running request. */
  failed(thrown: unknown, now: number): unknown {
    const { connection, statements, signal } = this;
    if (connection === undefined) return statements.translateError(thrown, signal);
    statements.warnIfSlow(now - this.sentAt, this);
    const error = statements.translateError(thrown, signal, this.sql);
    releaseOrDestroy(connection, isLost(error) ? error : undefined);
    return error;
  }

  get readOnly(): boolean {
    return this.isRead;
  }

  get batch(): object | undefined {
    return this.isRead ? this.scope : undefined;
  }

  get signal(): AbortSignal | undefined {
    return this.scope?.signal;
  }

  throwIfAborted(): void {
    throwIfAborted(this.scope);
  }

  onAbort(listener: AbortListener): void {
    if (this.scope !== undefined) onAbort(this.scope, listener);
  }

  offAbort(listener: AbortListener): void {
    if (this.scope !== undefined) offAbort(this.scope, listener);
  }

  private send(connection: DriverConnection, now: number): MaybePromise<DriverResult> {
    this.connection = connection;
    this.sentAt = now;
    return connection.query(this);
  }
}
