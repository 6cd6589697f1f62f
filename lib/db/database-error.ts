/**
 * The errors of a database. Their messages and fields hold names of tables, columns and constraints, and no value of a row or a bind. The
 * error of the driver is not their cause, because engines quote values in their messages.
 *
 * A unique or a foreign key violation is a 409, and a text that cannot be stored is a 400, because a client that sends other values
 * succeeds. A failure that passes by itself is a 503, with `Retry-After` after a conflict of transactions, and a full disk is a 507. Any other
 * failure, such as a column that does not exist, is a fault of the program and a 500.
 *
 * @example
 * try {
 *   await db.query.insertInto("links").values(link).execute();
 * } catch (error) {
 *   if (error instanceof UniqueViolationError) throw new ConflictError("that slug is taken");
 *   throw error;
 * }
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { DriverFailure, FailureKind } from "./driver.js";

/** In characters of an SQL text that a message repeats. */
const MAX_SQL_LENGTH = 500;

interface Meaning {
  readonly code: string;
  readonly status: number;
  /** Part of the response. */
  readonly detail: string;
  /** For the log, where the driver gives no text. */
  readonly text: string;
}

const UNAVAILABLE = { status: 503, detail: "The database is unavailable." };
const BUSY = { status: 503, detail: "The database is busy." };
const FAULT = { status: 500, detail: "The database refused the statement." };

const MEANINGS: Readonly<Record<FailureKind, Meaning>> = {
  unique: {
    code: "E_DB_UNIQUE",
    status: 409,
    detail: "A record with this value exists already.",
    text: "a unique value exists already",
  },
  foreignKey: {
    code: "E_DB_FOREIGN_KEY",
    status: 409,
    detail: "A record that this one needs does not exist, or others still need this one.",
    text: "a foreign key references a row that does not exist, or the row is still referenced",
  },
  notNull: { ...FAULT, code: "E_DB_NOT_NULL", text: "a column without a value" },
  check: { ...FAULT, code: "E_DB_CHECK", text: "a check of a table refused the row" },
  serialization: { ...BUSY, code: "E_DB_SERIALIZATION", text: "another transaction changed the same rows" },
  deadlock: { ...BUSY, code: "E_DB_DEADLOCK", text: "two transactions waited for each other" },
  busy: { ...BUSY, code: "E_DB_BUSY", text: "a lock was not free in time" },
  overloaded: { ...BUSY, code: "E_DB_OVERLOADED", text: "no connection was free in time" },
  connection: { ...UNAVAILABLE, code: "E_DB_CONNECTION", text: "the connection failed" },
  timeout: { ...UNAVAILABLE, code: "E_DB_TIMEOUT", text: "the statement took too long" },
  readOnly: { ...UNAVAILABLE, code: "E_DB_READ_ONLY", text: "the database is read-only" },
  full: { ...UNAVAILABLE, status: 507, code: "E_DB_FULL", text: "no space is left" },
  text: {
    code: "E_DB_TEXT",
    status: 400,
    detail: "A text has a character that cannot be stored.",
    text: "a text has a character that the database cannot store",
  },
  other: { ...FAULT, code: "E_DB", text: "the statement failed" },
};

/** A statement, a transaction or a connection failed. */
export class DatabaseError extends FrameworkError {
  readonly kind: FailureKind;
  /** The code of the engine: an SQLSTATE, `ER_DUP_ENTRY`, `SQLITE_CONSTRAINT_UNIQUE`. */
  readonly engineCode: string | undefined;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly columns: readonly string[];

  /** @param database its name in events; @param sql with placeholders */
  constructor(failure: DriverFailure, database: string, sql?: string) {
    const { code, status, detail } = MEANINGS[failure.kind];
    super(detail, { code, status, ...(RETRYABLE.has(failure.kind) && { headers: AFTER_A_SECOND }) });
    this.message = formatMessage(failure, database, sql);
    this.kind = failure.kind;
    this.engineCode = failure.code;
    this.constraint = failure.constraint;
    this.table = failure.table;
    this.columns = failure.columns ?? [];
  }
}

/** 409: a row with the same value of a unique column or index exists. */
export class UniqueViolationError extends DatabaseError {}

/** 409: a row that a foreign key needs does not exist, or others still refer to the row that is deleted. */
export class ForeignKeyViolationError extends DatabaseError {}

/** 503 or 507: no connection, no result in time, no lock in time, too many callers, no space, or a read-only database. */
export class DatabaseUnavailableError extends DatabaseError {}

/**
 * 500: the connection was lost or the request ended during a write, so the outcome of the write is unknown. The framework does not retry
 * it. Read the data again before you retry it.
 */
export class UnknownOutcomeError extends FrameworkError {
  /** @param what `the commit of shop` */
  constructor(what: string, options: { readonly cause?: unknown } = {}) {
    super("It is not known whether the change was made.", { ...options, code: "E_DB_UNKNOWN_OUTCOME" });
    this.message = `the outcome of ${what} is not known`;
  }
}

/** The error for the application. */
export function databaseError(failure: DriverFailure, database: string, sql?: string): DatabaseError {
  switch (failure.kind) {
    case "unique":
      return new UniqueViolationError(failure, database, sql);
    case "foreignKey":
      return new ForeignKeyViolationError(failure, database, sql);
    default:
      return MEANINGS[failure.kind].status >= 503
        ? new DatabaseUnavailableError(failure, database, sql)
        : new DatabaseError(failure, database, sql);
  }
}

/** True if the same transaction may succeed when it is retried. */
export function isRetryable(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && RETRYABLE.has(error.kind);
}

/** True if the connection cannot be used again. */
export function isLost(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === "connection";
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set(["serialization", "deadlock", "busy"]);

const AFTER_A_SECOND = { "Retry-After": "1" };

function formatMessage({ kind, code, text }: DriverFailure, database: string, sql?: string): string {
  const engine = code === undefined ? "" : ` (${code})`;
  const statement = kind !== "other" || sql === undefined ? "" : ` in: ${sql.slice(0, MAX_SQL_LENGTH)}`;
  return `${database}: ${text ?? MEANINGS[kind].text}${engine}${statement}`;
}
