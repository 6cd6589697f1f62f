/**
 * A statement outside of a transaction: it takes any connection, and gives it back at its end.
 */
import { currentWorkScope, throwIfAborted, type WorkScope } from "../lifecycle/work-scope.js";
import { type AtOnce, followed } from "./at-once.js";
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
  const connection = connect(statements, statement);
  if (connection instanceof Promise) return connection.then((given) => queryOn(given, statements, statement));
  return queryOn(connection, statements, statement);
}

/** The signal is made when the driver asks for it: a query that does not wait needs none. */
class LoneStatement implements DriverStatement, ConnectOptions {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly isRead: boolean;

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

  get signal(): AbortSignal | undefined {
    return this.scope?.signal;
  }
}

function connect(statements: Statements, statement: LoneStatement): AtOnce<DriverConnection> {
  return followed(
    () => statements.driver.connect(statement),
    () => {},
    (error) => statements.errorOf(error, statement.signal),
  );
}

function queryOn(
  connection: DriverConnection,
  statements: Statements,
  statement: DriverStatement,
): AtOnce<DriverResult> {
  return followed(
    () => statements.query(connection, statement),
    () => connection.release(),
    (error) => {
      giveBack(connection, isLost(error) ? error : undefined);
      return error;
    },
  );
}
