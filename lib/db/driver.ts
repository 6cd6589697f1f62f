/**
 * The port between a `Database` and its engine: connections, transactions, the kind of a failure, the lock of the migrations. A driver is a
 * value that the application passes to its database. `sqlite()`, `postgres()` and `mysql()` create one.
 *
 * Not for applications: they use `db.query` and `db.transaction`. Write a driver only for an engine that the framework does not know, and
 * test it with `obeysDatabase` of `@stagecraft/framework/testing/contracts`. `spec/db/toy-driver.ts` of the repository is a complete
 * driver.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("shop.db")));
 */
import type { SubsystemHost } from "../lifecycle/operations.js";
import type { Abortable } from "../runtime/abortable.js";
import type { DatabaseDialect } from "./dialect.js";
import type { MaybePromise } from "./maybe-promise.js";

export type IsolationLevel = "read committed" | "repeatable read" | "serializable";

/** The meaning of a failure of the engine. */
export type FailureKind =
  | "unique"
  | "foreignKey"
  | "notNull"
  | "check"
  /** Another transaction changed the same rows. The transaction can be retried. */
  | "serialization"
  | "deadlock"
  /** A lock of another transaction was not released in time. */
  | "busy"
  /** The pool had no free connection in time, or too many callers wait already. The statement did not reach the engine. */
  | "overloaded"
  /** The connection could not be opened, or is lost. It cannot be used again. */
  | "connection"
  /** The time limit of the engine for one statement, or for an idle transaction. */
  | "timeout"
  | "readOnly"
  /** No space is left. */
  | "full"
  /** A text has a character that the engine or the column cannot hold. */
  | "text"
  | "other";

/**
 * A failure without any value of a row or a bind. Engines quote values in their messages (`Duplicate entry 'ann@example.com'`), so the
 * driver writes `text` itself or leaves it out. The message of the engine does not leave the driver.
 */
export interface DriverFailure {
  readonly kind: FailureKind;
  /** The code of the engine: an SQLSTATE, `ER_DUP_ENTRY`, `SQLITE_CONSTRAINT_UNIQUE`. */
  readonly code?: string | undefined;
  /** One clause for the log, without values: `UNIQUE constraint failed: links.slug`. */
  readonly text?: string | undefined;
  readonly constraint?: string | undefined;
  readonly table?: string | undefined;
  readonly columns?: readonly string[] | undefined;
}

export interface DriverStatement extends Abortable {
  /** With placeholders in the form of the dialect. */
  readonly sql: string;
  /** One may be a `JsonBind`, whose text is bound. */
  readonly parameters: readonly unknown[];
  /** True if the statement certainly changes no row and no schema. */
  readonly isRead: boolean;
  /** True if only the first row of a read is wanted. A driver may return more rows. */
  readonly isOneRow?: boolean | undefined;
  /**
   * Cancels the statement where the engine supports it. The promise then rejects with the reason of the signal. For a write outside of a
   * transaction whose outcome is unknown, it rejects with an `UnknownOutcomeError`. It settles only after the connection can be used again
   * or is destroyed.
   */
  readonly signal?: AbortSignal | undefined;
  /** Set by a driver that pipelines statements: the milliseconds for which the engine was busy with earlier statements. */
  waitedMs?: number;
}

export interface DriverResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that an insert, update or delete touched. */
  readonly affected?: bigint | undefined;
  /** The affected rows whose values are different now (MySQL). */
  readonly changed?: bigint | undefined;
  /** The key that the engine generated for the last inserted row (SQLite, MySQL). */
  readonly insertId?: bigint | undefined;
}

export type TransactionStatus = "none" | "open" | "failed";

export interface BeginOptions {
  readonly readOnly: boolean;
  /** Absent: the default of the engine. A driver refuses a level that its engine does not have. */
  readonly isolation?: IsolationLevel | undefined;
  /** Aborts the wait for the write lock (SQLite). */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One connection. One user has it and runs one statement after the other, or the users of one batch share it, each with one statement.
 * Each promise rejects with the error of the engine, which `driver.failure` reads, or with a `FrameworkError`, which the application gets
 * unchanged.
 */
export interface DriverConnection {
  /**
   * The last status that the engine reported: no transaction, an open one, or a failed one, which accepts no statement before its rollback
   * (PostgreSQL). A deadlock of MySQL and some failures of SQLite end the transaction, and the next statement would run outside of it.
   */
  readonly transactionStatus: TransactionStatus;

  /** A synchronous driver returns the result, and throws the failure, instead of a promise. */
  query(statement: DriverStatement): MaybePromise<DriverResult>;

  begin(options: BeginOptions): Promise<void>;

  /**
   * A rejection whose `failure` is of the kind `connection` means that the outcome is not known. Not called for a failed transaction, which
   * PostgreSQL would roll back without an error.
   */
  commit(): Promise<void>;

  /** If it rejects, the caller destroys the connection. */
  rollback(): Promise<void>;

  /**
   * Returns the connection to the driver, which destroys it if a transaction is still open. Each user calls `release` or `destroy` once.
   */
  release(): void;

  /** Closes the connection permanently. @param reason the failure */
  destroy(reason: unknown): void;
}

export interface ConnectOptions extends Abortable {
  /** For work that only reads. SQLite has separate connections for it; other drivers may ignore it. */
  readonly readOnly: boolean;
  /** Aborts the wait for a connection, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** For migrations: the separate address, if the driver has one, and no time limit for a statement. */
  readonly isMigration?: boolean | undefined;
  /**
   * The same value for the reads of one request, which end together. A driver that pipelines statements may give several of them the same
   * connection.
   */
  readonly batch?: object | undefined;
}

export interface MigrationLock {
  release(): Promise<void>;
}

export abstract class DatabaseDriver {
  abstract readonly dialect: DatabaseDialect;

  /** For errors and events: host, port and name of the database, or the file. Never a user or a password. */
  abstract readonly address: string;

  /** True if a change of the schema is rolled back with its transaction. */
  abstract readonly hasTransactionalSchema: boolean;

  /**
   * Milliseconds from which a query counts as slow, unless the database sets a limit. SQLite has a lower one: its queries block the
   * process.
   */
  readonly slowQueryMs: number = 500;

  /** Called once before `start`: name, clock and metrics of the database. Opens no connection. */
  abstract prepare(host: SubsystemHost): void;

  /** True if the database is a file that does not exist, which `start` would create. Absent for an engine with a server. */
  isAbsent?(): Promise<boolean>;

  /** Connects, within a bounded time. */
  abstract start(): Promise<void>;

  /** Closes the connections after a short grace period for running work. */
  abstract stop(): Promise<void>;

  /** Resolves if the engine responds. */
  abstract probe(signal: AbortSignal): Promise<void>;

  /** A free connection, or a promise of the next one. The wait and the number of waiting callers are bounded. */
  abstract connect(options: ConnectOptions): MaybePromise<DriverConnection>;

  /** Reads an error of this driver's connections. Any other value is `other`. */
  abstract failure(error: unknown): DriverFailure;

  /**
   * Prevents other processes from migrating the same database, until `release` or the end of this process. Rejects after `waitMs`, with a
   * failure of the kind `busy`. The text of the error names the holder of the lock and the time at which it took the lock, where the
   * engine knows them.
   */
  abstract lockMigrations(waitMs: number): Promise<MigrationLock>;

  /**
   * Listens on a separate connection. Calls `onNotification` after `pg_notify` of the channel on another connection, and when a
   * notification may have been missed. Absent where the engine has no notifications. A notification can be lost.
   *
   * @param channel a name that needs no quotes
   * @returns a function that stops listening
   */
  listen?(channel: string, onNotification: () => void): () => void;
}
