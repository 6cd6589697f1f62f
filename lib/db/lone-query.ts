/**
 * A statement outside of a transaction: it takes any connection, and gives it back at its end.
 */
import { currentWorkScope, type WorkScope } from "../lifecycle/work-scope.js";
import { type AbortListener, offAbort, onAbort, throwIfAborted } from "../runtime/abortable.js";
import type { AtOnce } from "./at-once.js";
import { isLost } from "./database-error.js";
import type { ConnectOptions, DriverConnection, DriverResult, DriverStatement } from "./driver.js";
import type { BuiltStatement } from "./kysely.js";
import { giveBack } from "./root-transaction.js";
import type { Statements } from "./statements.js";

/** @throws DatabaseError, or the reason of the signal of the running request */
export function queryAlone(statements: Statements, built: BuiltStatement): AtOnce<DriverResult> {
  const scope = currentWorkScope();
  throwIfAborted(scope);
  const statement = new LoneStatement(built, scope);
  let connection: AtOnce<DriverConnection>;
  try {
    connection = statements.driver.connect(statement);
  } catch (error) {
    throw statements.errorOf(error, statement.signal);
  }
  if (!(connection instanceof Promise)) return queryOn(connection, statements, statement);
  return connection.then(
    (given) => queryOn(given, statements, statement),
    (error: unknown) => {
      throw statements.errorOf(error, statement.signal);
    },
  );
}

/** The signal is made when the driver asks for it: a query that does not wait needs none. */
class LoneStatement implements DriverStatement, ConnectOptions {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly isRead: boolean;
  waitedMs = 0;

  constructor(
    { sql, parameters, isRead }: BuiltStatement,
    private readonly scope: WorkScope | undefined,
  ) {
    this.sql = sql;
    this.parameters = parameters;
    this.isRead = isRead;
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
}

function queryOn(
  connection: DriverConnection,
  statements: Statements,
  statement: DriverStatement,
): AtOnce<DriverResult> {
  return statements.query(
    connection,
    statement,
    () => connection.release(),
    (error) => giveBack(connection, isLost(error) ? error : undefined),
  );
}
