/** The connection of a migration, and the query builders that use it alone. */
import type { Kysely } from "kysely";
import { isLost, UnknownOutcomeError } from "./database-error.js";
import type { DriverConnection, DriverResult } from "./driver.js";
import { type BuiltStatement, queryBuilder, type StatementSink } from "./kysely.js";
import type { MigrationRecordTables } from "./migration-records.js";
import type { Migration, MigrationTables } from "./migration.js";
import { giveBack } from "./root-transaction.js";
import type { Statements } from "./statements.js";

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

  private constructor(
    private readonly statements: Statements,
    private readonly connection: DriverConnection,
  ) {
    const { dialect } = statements.driver;
    const sink: StatementSink = { execute: async (statement, read) => read(await this.execute(statement)) };
    this.database = { tables: queryBuilder(dialect, sink, []), records: queryBuilder(dialect, sink, []) };
  }

  /** @throws DatabaseError */
  static async open(statements: Statements): Promise<MigrationSession> {
    try {
      const connection = await statements.driver.connect({ readOnly: false, isMigration: true });
      return new MigrationSession(statements, connection);
    } catch (error) {
      throw statements.errorOf(error);
    }
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
    giveBack(this.connection, this.lost);
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

  private execute({ sql, parameters, operation, isRead }: BuiltStatement): Promise<DriverResult> {
    return this.statements.report(operation, sql, () =>
      this.step(async () => {
        if (leavesHalf(sql)) this.changes++;
        const result = await this.connection.query({ sql, parameters, isRead });
        if (!isRead && !sql.includes("framework_migrations")) this.changes++;
        return result;
      }, sql),
    );
  }

  private async step<T>(work: () => Promise<T>, sql?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const known = this.statements.errorOf(error, undefined, sql);
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
