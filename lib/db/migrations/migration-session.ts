/** The connection of a migration, and the query builders that use it alone. */
import type { Kysely } from "kysely";
import { isLost, UnknownOutcomeError } from "../database-error.js";
import type { DatabaseDialect, DriverConnection, DriverResult } from "../driver.js";
import { ExecutedStatements } from "./executed-statements.js";
import { type BuiltStatement, createQueryBuilder, type StatementSink } from "../kysely.js";
import type { MigrationRecordTables, MigrationWork } from "./migration-records.js";
import type { Migration, MigrationTables } from "./migration.js";
import { releaseOrDestroy } from "../transactions/root-transaction.js";
import type { Statements } from "../statements.js";

/** One connection by two names: for the migration, and for the table of what was applied. */
export interface MigrationDatabase {
  readonly tables: Kysely<MigrationTables>;
  readonly records: Kysely<MigrationRecordTables>;
}

export class MigrationSession {
  readonly database: MigrationDatabase;
  /** The statements that changed something, or may have. */
  changes = 0;
  private lost: unknown = undefined;
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

  /** Called before a migration. The result says what the migration has done so far. */
  beginWork(): () => MigrationWork {
    const { clock } = this.statements.host;
    const startedAt = clock.monotonic();
    this.executed.clear();
    return () => ({ durationMs: clock.monotonic() - startedAt, statements: this.executed.list });
  }

  isTransactional({ transaction = true }: Migration): boolean {
    return transaction && this.statements.driver.hasTransactionalSchema;
  }

  /** Commits if `work` returns, and rolls back if it throws. */
  async inTransaction<T>(work: (db: MigrationDatabase) => Promise<T>): Promise<T> {
    await this.step(() => this.connection.begin({ readOnly: false }));
    let result: T;
    try {
      result = await work(this.database);
    } catch (error) {
      // The first error counts.
      await this.step(() => this.connection.rollback()).catch(() => {});
      throw error;
    }
    await this.commit();
    return result;
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
    return this.statements.report(operation, sql, () =>
      this.step(async () => this.connection.query({ sql, parameters, isRead }), sql),
    );
  }

  private async step<T>(work: () => Promise<T>, sql?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const known = this.statements.translateError(error, undefined, sql);
      if (isLost(known)) this.lost = known;
      throw known;
    }
  }
}

/**
 * True for a statement that may fail and leave a part of its work: an index that PostgreSQL builds `concurrently` stays and is not valid, a
 * `drop` of several tables on MariaDB drops those that exist, and what is called may commit.
 */
function leavesHalf(sql: string): boolean {
  return /\bconcurrently\b|^\s*(?:call|do)\b|^\s*drop\b[^;]*,/i.test(sql);
}

/** What a migration sends, without a database: each statement gets no rows. */
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
