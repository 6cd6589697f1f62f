/** The connection of a migration, and the query builders that use it alone. */
import type { Kysely } from "kysely";
import { isLost, UnknownOutcomeError } from "../database-error.js";
import type { DatabaseDialect } from "../dialect.js";
import type { DriverConnection, DriverResult } from "../driver.js";
import { dropAll } from "./drop-all.js";
import { ExecutedStatements } from "./executed-statements.js";
import { type BuiltStatement, createQueryBuilder, type StatementSink } from "../kysely.js";
import type { MigrationRecordTables, MigrationWork } from "./migration-records.js";
import type { Migration, MigrationTables } from "./migration.js";
import { releaseOrDestroy } from "../transactions/root-transaction.js";
import type { Statements } from "../statements.js";

/** One connection with two builders: for the migration, and for the table of the applied migrations. */
export interface MigrationDatabase {
  readonly tables: Kysely<MigrationTables>;
  readonly records: Kysely<MigrationRecordTables>;
}

export class MigrationSession {
  readonly database: MigrationDatabase;
  /** The number of statements that changed the database, or may have changed it. */
  changes = 0;
  private lost: unknown = undefined;
  /** Cancels the statements of the open transaction. Its commit has no signal: the outcome would be unknown. */
  private signal: AbortSignal | undefined = undefined;
  private readonly executed = new ExecutedStatements();

  private constructor(
    private readonly statements: Statements,
    private readonly connection: DriverConnection,
  ) {
    const { dialect } = statements.driver;
    const tables: StatementSink = { execute: async (statement, read) => read(await this.change(statement)) };
    const records: StatementSink = { execute: async (statement, read) => read(await this.execute(statement)) };
    this.database = {
      tables: createQueryBuilder(dialect, tables, []),
      records: createQueryBuilder(dialect, records, []),
    };
  }

  /** @throws DatabaseError */
  static async open(statements: Statements): Promise<MigrationSession> {
    try {
      const connection = await statements.driver.connect({ readOnly: false, isMigration: true });
      return new MigrationSession(statements, connection);
    } catch (error) {
      throw statements.translateError(error);
    }
  }

  /** Called before a migration. The result returns the work of the migration so far. */
  startWork(): () => MigrationWork {
    const { clock } = this.statements.host;
    const startedAt = clock.monotonic();
    this.executed.clear();
    return () => ({ durationMs: clock.monotonic() - startedAt, statements: this.executed.list });
  }

  isTransactional({ transaction = true }: Migration): boolean {
    return transaction && this.statements.driver.hasTransactionalSchema;
  }

  /** Commits if `work` returns, and rolls back if it throws or the signal aborts; then it rejects with the reason. */
  async inTransaction<T>(work: (db: MigrationDatabase) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.step(() => this.connection.begin({ readOnly: false }));
    this.signal = signal;
    let result: T;
    try {
      result = await work(this.database);
      signal?.throwIfAborted();
    } catch (error) {
      this.signal = undefined;
      // The caller gets the first error.
      await this.step(() => this.connection.rollback()).catch(() => {});
      throw signal?.aborted === true ? signal.reason : error;
    }
    this.signal = undefined;
    await this.commit();
    return result;
  }

  dropAll(): Promise<number> {
    return this.step(() => dropAll(this.connection, this.statements.driver.dialect.family));
  }

  close(): void {
    releaseOrDestroy(this.connection, this.lost);
  }

  private async commit(): Promise<void> {
    try {
      await this.step(() => this.connection.commit());
    } catch (error) {
      if (isLost(error)) throw new UnknownOutcomeError("the commit of a migration");
      await this.connection.rollback().catch(() => {});
      throw error;
    }
  }

  /** A statement of a migration. */
  private async change(statement: BuiltStatement): Promise<DriverResult> {
    if (leavesHalf(statement.sql)) this.changes++;
    this.executed.add(statement.sql);
    const result = await this.execute(statement);
    if (!statement.isRead) this.changes++;
    return result;
  }

  private execute({ sql, parameters, operation, isRead }: BuiltStatement): Promise<DriverResult> {
    const { signal } = this;
    return this.statements.report(operation, sql, () =>
      this.step(async () => {
        signal?.throwIfAborted();
        return this.connection.query({ sql, parameters, isRead, signal });
      }, sql),
    );
  }

  private async step<T>(work: () => Promise<T>, sql?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const known = this.statements.translateError(error, this.signal, sql);
      if (isLost(known)) this.lost = known;
      throw known;
    }
  }
}

/**
 * True for a statement that may fail and leave a part of its work: a failed index that PostgreSQL builds `concurrently` stays as an invalid
 * one, a `drop` of several tables on MariaDB drops those that exist, and a called procedure may commit.
 */
function leavesHalf(sql: string): boolean {
  return /\bconcurrently\b|^\s*(?:call|do)\b|^\s*drop\b[^;]*,/i.test(sql);
}

/** The statements that a migration sends, without a database: each statement returns no rows. */
export async function previewStatements(dialect: DatabaseDialect, up: Migration["up"]): Promise<readonly string[]> {
  const sent = new ExecutedStatements();
  const sink: StatementSink = {
    execute: ({ sql }, read) => {
      sent.add(sql);
      return read({ rows: [] });
    },
  };
  await up(createQueryBuilder(dialect, sink, []));
  return sent.list;
}
