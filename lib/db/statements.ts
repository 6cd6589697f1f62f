/**
 * Runs statements on connections of a driver. Each statement has a span, a metric and a DEBUG event, and a slow one has a WARN event. An
 * error of the driver becomes a `DatabaseError`. None of these has a bind or a value of a row.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { type FollowedWork, Operations, type SubsystemHost } from "../lifecycle/operations.js";
import { tracing } from "../tracing/tracing.js";
import type { MaybePromise } from "./maybe-promise.js";
import { databaseError } from "./database-error.js";
import type { DatabaseDriver, DriverConnection, DriverResult, DriverStatement } from "./driver.js";
import type { BuiltStatement, StatementOperation } from "./kysely.js";

const NAMES = { target: "framework::db", span: "framework.db.query" };

const log = tracing.target(NAMES.target);

type Operation = StatementOperation | "begin" | "commit" | "rollback" | "savepoint";

export class Statements {
  private readonly operations: Operations;

  constructor(
    readonly driver: DatabaseDriver,
    readonly host: SubsystemHost,
    private readonly slowQueryMs: number,
  ) {
    this.operations = new Operations(NAMES, host);
  }

  /** Reports `work` as one operation. `sql` has placeholders. */
  report<T>(operation: Operation, sql: string | undefined, work: () => T): T {
    return this.operations.run(operation, work, sql === undefined ? undefined : { statement: sql });
  }

  /** Reports a statement of the application as one operation. @internal */
  follow<R>({ operation, sql }: BuiltStatement, work: FollowedWork<DriverResult, R>): MaybePromise<R> {
    return this.operations.follow(operation, work, { statement: sql });
  }

  /** @throws DatabaseError, or the reason of the signal */
  async query(connection: DriverConnection, statement: DriverStatement): Promise<DriverResult> {
    const startedAt = this.host.clock.monotonic();
    try {
      const result = await connection.query(statement);
      this.warnIfSlow(this.host.clock.monotonic() - startedAt, statement);
      return result;
    } catch (error) {
      this.warnIfSlow(this.host.clock.monotonic() - startedAt, statement);
      throw this.translateError(error, statement.signal, statement.sql);
    }
  }

  /** The error of the application for an error of the driver. Errors of the framework and reasons of a signal stay unchanged. */
  translateError(error: unknown, signal?: AbortSignal, sql?: string): unknown {
    if (error instanceof FrameworkError) return error;
    if (signal?.aborted === true && error === signal.reason) return error;
    return databaseError(this.driver.failure(error), this.host.name, sql);
  }

  /** @param sinceSent milliseconds since the driver got the statement @internal */
  warnIfSlow(sinceSent: number, { sql, waitedMs = 0 }: DriverStatement): void {
    const elapsed = sinceSent - waitedMs;
    if (elapsed < this.slowQueryMs) return;
    log.warn("slow query", { subsystem: this.host.name, duration_ms: Math.trunc(elapsed), statement: sql });
  }
}
