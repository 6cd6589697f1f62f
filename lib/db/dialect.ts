/**
 * The dialect of an engine: the features of its SQL that the framework uses. Each driver has one. A driver for an engine that is compatible
 * with SQLite, PostgreSQL or MySQL takes the dialect of that engine, gives it another name, and replaces the features that differ.
 *
 * Code of the framework reads a feature or the family, and never compares a name with that of an engine.
 *
 * @example
 * class CockroachDriver extends DatabaseDriver {
 *   readonly dialect: DatabaseDialect = { ...postgresDialect, name: "cockroach" };
 *   // …
 * }
 */

/** The SQL that Kysely writes, the form of the placeholders, and the rules by which a file of SQL is split into statements. */
export type SqlFamily = "sqlite" | "postgres" | "mysql";

export interface DatabaseDialect {
  /** For errors: `postgres`. All databases of an application use the same dialect; the names are compared. */
  readonly name: string;
  readonly family: SqlFamily;
  /** True if only one transaction at a time can write. A write beside an open transaction of the same code would wait for its end. */
  readonly hasOneWriter: boolean;
  /** True if a transaction with a failed statement accepts no other statement before its rollback. */
  readonly failureAbortsTransaction: boolean;
  /**
   * A statement that checks the deferred constraints of the open transaction, for `rolledBack`. It fails, or returns a row with the name in
   * `table` for each broken foreign key. Absent: `rolledBack` checks none.
   */
  readonly checkConstraints?: string | undefined;
  /** A statement that empties all these tables, whose names are quoted, for `emptied`. Absent: `emptied` deletes the rows of each table. */
  readonly truncate?: ((tables: readonly string[]) => string) | undefined;
  /** A statement that suspends the checks of foreign keys inside a transaction, for `emptied` without `truncate`. */
  readonly suspendForeignKeys?: string | undefined;
  /** Reverts `suspendForeignKeys`. Absent where the end of the transaction does that. */
  readonly resumeForeignKeys?: string | undefined;
}

export const sqliteDialect: DatabaseDialect = {
  name: "sqlite",
  family: "sqlite",
  hasOneWriter: true,
  failureAbortsTransaction: false,
  checkConstraints: "pragma foreign_key_check",
  suspendForeignKeys: "pragma defer_foreign_keys = on",
};

export const postgresDialect: DatabaseDialect = {
  name: "postgres",
  family: "postgres",
  hasOneWriter: false,
  failureAbortsTransaction: true,
  checkConstraints: "set constraints all immediate",
  truncate: (tables) => `truncate ${tables.join(", ")} restart identity cascade`,
};

/** Of MariaDB and MySQL. */
export const mysqlDialect: DatabaseDialect = {
  name: "mysql",
  family: "mysql",
  hasOneWriter: false,
  failureAbortsTransaction: false,
  suspendForeignKeys: "set foreign_key_checks = 0",
  resumeForeignKeys: "set foreign_key_checks = 1",
};
