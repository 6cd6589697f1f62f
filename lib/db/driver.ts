/**
 * The port between a `Database` and the engine behind it: connections, transactions, the kind of a failure, the lock of the migrations. A
 * driver is a value that the application hands to its database. `sqlite()`, `postgres()` and `mysql()` make one.
 *
 * Not for applications: they use `db.query` and `db.transaction`. Write a driver only for an engine that the framework does not know, and
 * hold it to `obeysDatabase` of `@stagecraft/framework/testing`.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("shop.db")));
 */
import type { SubsystemHost } from "../lifecycle/operations.js";
import type { Abortable } from "../runtime/abortable.js";
import type { MaybePromise } from "./maybe-promise.js";

/** The SQL that Kysely writes for the engine. */
export type DatabaseDialect = "sqlite" | "postgres" | "mysql";

export type IsolationLevel = "read committed" | "repeatable read" | "serializable";

/** What a failure of the engine means. */
export type FailureKind =
  | "unique"
  | "foreignKey"
  | "notNull"
  | "check"
  /** A transaction that can be repeated: another one changed the same rows. */
  | "serialization"
  | "deadlock"
  /** A lock that another one holds was not free in time. */
  | "busy"
  /** The pool had no free connection in time, or too many callers wait already. The statement did not reach the engine. */
  | "overloaded"
  /** The connection could not be made, or is lost. It cannot be used again. */
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
 * driver writes `text` itself or leaves it out. The message of the engine goes no further than the driver.
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
  /** True if the statement certainly changes nothing. */
  readonly isRead: boolean;
  /** True if only the first row of a read is wanted. A driver may return more rows. */
  readonly isOneRow?: boolean | undefined;
  /**
   * Ends the statement where the engine can. The promise then rejects with the reason of the signal, or, for a write outside of a
   * transaction whose end is not known, with an `UnknownOutcomeError`. It settles only after the connection can be used again or is
   * destroyed.
   */
  readonly signal?: AbortSignal | undefined;
  /** Written by a driver that sends statements ahead: the milliseconds in which the engine was busy with those before this one. */
  waitedMs?: number;
}

export interface DriverResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that an insert, update or delete touched. */
  readonly affected?: bigint | undefined;
  /** The affected rows whose values are different now (MySQL). */
  readonly changed?: bigint | undefined;
  /** The key that the engine gave to the last inserted row (SQLite, MySQL). */
  readonly insertId?: bigint | undefined;
}

export type TransactionStatus = "none" | "open" | "failed";

export interface BeginOptions {
  readonly readOnly: boolean;
  /** Absent: the default of the engine. A driver refuses a level that its engine does not have. */
  readonly isolation?: IsolationLevel | undefined;
  /** Ends the wait for the lock of the writer (SQLite). */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One connection. Either one user holds it and runs one statement after the other, or the users of one batch hold it together, each with
 * one statement. Each promise rejects with the engine's own error, which `driver.failure` reads, or with a `FrameworkError`, which goes to
 * the application as it is.
 */
export interface DriverConnection {
  /**
   * What the engine last said: no transaction, an open one, or one that takes no further statement before a rollback (PostgreSQL after a
   * failure). A deadlock of MySQL and some failures of SQLite end the transaction, and the next statement would run outside of it.
   */
  readonly transactionStatus: TransactionStatus;

  /** A driver that answers in the same call returns the result, and throws the failure, instead of a promise. */
  query(statement: DriverStatement): MaybePromise<DriverResult>;

  begin(options: BeginOptions): Promise<void>;

  /**
   * A rejection whose `failure` is of the kind `connection` means that the outcome is not known. Not called for a failed transaction, which
   * PostgreSQL would roll back without an error.
   */
  commit(): Promise<void>;

  /** If it rejects, the caller destroys the connection. */
  rollback(): Promise<void>;

  /** Gives the connection back. The driver destroys it if a transaction is still open on it. Each user calls it once, or `destroy`. */
  release(): void;

  /** Closes the connection for good, with the failure that is the reason. */
  destroy(reason: unknown): void;
}

export interface ConnectOptions extends Abortable {
  /** For work that only reads. SQLite has connections of their own for it; other drivers may ignore it. */
  readonly readOnly: boolean;
  /** Ends the wait for a connection: rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** For migrations: an address of its own where the driver was given one, and no time limit for a statement. */
  readonly isMigration?: boolean | undefined;
  /**
   * Callers that each want one read, and end together: those of one request. A driver that can send several statements at once may give
   * several of them the same connection.
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

  /** The time from which a query counts as slow, unless the database sets one. SQLite stops the process for as long as a query runs. */
  readonly slowQueryMs: number = 500;

  /** Called once before `start`: name, clock and metrics of the database. Opens nothing. */
  abstract prepare(host: SubsystemHost): void;

  /** Connects, within a bounded time. */
  abstract start(): Promise<void>;

  /** Ends the connections. Work that still runs has a short time to end. */
  abstract stop(): Promise<void>;

  /** Resolves if the engine answers. */
  abstract probe(signal: AbortSignal): Promise<void>;

  /** A free connection, or a promise of the next one: bounded in time and in the number of callers that wait. */
  abstract connect(options: ConnectOptions): MaybePromise<DriverConnection>;

  /** Reads an error of this driver's connections. Any other value is `other`. */
  abstract failure(error: unknown): DriverFailure;

  /**
   * Keeps other processes from migrating the same database, until `release` or the end of this process. Rejects after `waitMs` with a text
   * that says who holds the lock and since when, as far as the engine knows.
   */
  abstract lockMigrations(waitMs: number): Promise<MigrationLock>;

  /**
   * Listens on a connection of its own. Calls `heard` when another connection notifies the channel, and when a notification may have been
   * missed. Absent where the engine has no notifications. A notification can be lost.
   *
   * @param channel a name that needs no quotes
   * @returns a function that stops listening
   */
  listen?(channel: string, onNotification: () => void): () => void;
}
