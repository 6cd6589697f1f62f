/**
 * The entry point `@stagecraft/framework/db`: databases and their transactions, over a driver of another entry point. Needs the package
 * `kysely`. If it is missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export type { MaybePromise } from "../db/maybe-promise.js";
export type { Abortable, AbortListener } from "../runtime/abortable.js";
export { Database, type DatabaseOptions } from "../db/database.js";
export {
  DatabaseError,
  DatabaseUnavailableError,
  ForeignKeyViolationError,
  UniqueViolationError,
  UnknownOutcomeError,
} from "../db/database-error.js";
export { mysqlDialect, postgresDialect, sqliteDialect, type DatabaseDialect, type SqlFamily } from "../db/dialect.js";
export {
  DatabaseDriver,
  type BeginOptions,
  type ConnectOptions,
  type DriverConnection,
  type DriverFailure,
  type DriverResult,
  type DriverStatement,
  type FailureKind,
  type IsolationLevel,
  type MigrationLock,
  type TransactionStatus,
} from "../db/driver.js";
export { DriverError } from "../db/driver-error.js";
export { ConnectionPool } from "../db/pool/pool.js";
export type { OpenMember, PoolMember } from "../db/pool/pool-member.js";
export { toPoolLimits, type PoolLimits, type PoolOptions } from "../db/pool/pool-options.js";
export type { PoolFigures } from "../db/pool/pool-report.js";
export { refuseBind } from "../db/bind.js";
export type { Migration, MigrationTables } from "../db/migrations/migration.js";
export { MigrationFolder, readMigrations } from "../db/migrations/migration-files.js";
export type { MigrationSource } from "../db/migrations/migration-list.js";
export type { AcceptedEdit } from "../db/migrations/migration-records.js";
export type { MigrationDetails, MigrationStatus } from "../db/migrations/migration-status.js";
export type { MigrateOptions, Migrator, RollbackOptions } from "../db/migrations/migrator.js";
export type { Seed, SeededDatabase, Seeds } from "../db/seeds.js";
export { json, JsonBind } from "../db/json.js";
export { sql } from "../db/kysely.js";
export { factory, type Factory } from "../db/factory.js";
export { after, paginate, type AfterOptions, type CursorPage, type NumberedPage } from "../db/pagination.js";
export type { PreparedQuery } from "../db/prepared-query.js";
export { emptied, rolledBack } from "../db/transactions/sandbox.js";
export type { TransactionRun } from "../db/transactions/transaction-level.js";
export type { TransactionOptions } from "../db/transactions/transaction-options.js";
