/**
 * The meaning of an error of PostgreSQL. Its message may quote a value, and its detail does, so the texts are written here. Only for wrong
 * SQL the message of the server is used, which quotes names and SQL, and never a bind.
 */
import { DriverError, findErrorCode } from "../../driver-error.js";
import type { DriverFailure, FailureKind } from "../../driver.js";
import { pg } from "./postgres-package.js";

type ServerError = InstanceType<typeof pg.DatabaseError>;

const MAX_MESSAGE_LENGTH = 300;

/** The kind of a failure, by its SQLSTATE. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  "22021": "text",
  "22P05": "text",
  "23505": "unique",
  "23P01": "unique",
  "23503": "foreignKey",
  "23001": "foreignKey",
  "23502": "notNull",
  "23514": "check",
  "40001": "serialization",
  "40P01": "deadlock",
  "55P03": "busy",
  "57014": "timeout",
  "25P03": "timeout",
  "25P04": "timeout",
  "25006": "readOnly",
  "53100": "full",
  "53300": "overloaded",
  "57P01": "connection",
  "57P02": "connection",
  "57P03": "connection",
  "57P05": "connection",
};

const TEXTS: Readonly<Record<string, string>> = {
  "22001": "a text is too long for its column",
  "22003": "a number is outside the range of its type",
  "22007": "a text cannot be read as a date or time",
  "22008": "a date or time is outside the range of its type",
  "22012": "a division by zero",
  "22021": "a text has bytes that the encoding does not have",
  "22P02": "a text cannot be read as the type that it is compared or stored as",
  "22P05": "a text has a character that the encoding of the server does not have",
  "25P02": "the transaction has failed and takes no further statement",
  "25P03": "the transaction was without a statement for too long",
  "28000": "the server refused the login",
  "28P01": "the server refused the login",
  "3D000": "the database does not exist",
  "53100": "the disk of the server is full",
  "53300": "the server has no place for another connection",
  "57014": "the statement was cancelled, or took longer than statement_timeout",
  "57P01": "the server ended the connection",
  "57P02": "the server ended the connection after a crash",
  "57P03": "the server is starting or stopping",
};

export function postgresFailure(error: unknown): DriverFailure {
  if (error instanceof DriverError) return error.failure;
  if (!(error instanceof pg.DatabaseError)) return { kind: "other" };
  const { code = "", constraint, table } = error;
  return {
    kind: getKind(error, code),
    code,
    text: findText(error, code),
    constraint,
    table,
    columns: readColumns(error),
  };
}

/** The failure of an attempt to connect. Only codes, never the text of the error: it may hold parts of the URL. */
export function connectError(error: unknown, address: string): DriverError {
  if (error instanceof DriverError) return error;
  const code = findErrorCode(error) ?? findClosedCode(error);
  const known = (code === undefined ? undefined : TEXTS[code]) ?? findTlsReason(error) ?? findPoolerReason(error);
  const reason = known ?? code ?? "the connection failed";
  const kind = code === "53300" ? "overloaded" : "connection";
  return new DriverError({ kind, code, text: `cannot connect to ${address}: ${reason}` });
}

/** True if the plan of a prepared statement is out of date. The statement was not executed. */
export function isStalePlan(error: unknown): boolean {
  return (error instanceof pg.DatabaseError && error.code === "26000") || isOfChangedTable(error);
}

/** True if the columns of a prepared statement have changed. */
export function isOfChangedTable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "0A000" && error.routine === "RevalidateCachedQuery";
}

/** True if a parameter has another type than the column that it is stored in, for example because the type of the column has changed. */
export function isOfOtherType(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "42804" && error.position !== undefined;
}

export function isFromServer(error: unknown): error is ServerError {
  return error instanceof pg.DatabaseError;
}

/**
 * The error of a statement with binds, without a message that may quote one. The server may parse a bind as a search, a path or the name of
 * a table, and a failure of that has the code of wrong SQL. Only an error about the text of the statement has a position.
 */
export function withoutBinds(error: ServerError): ServerError {
  if (error.position === undefined) error.message = "";
  return error;
}

function getKind(error: ServerError, code: string): FailureKind {
  // A retry sends the text again.
  if (isStalePlan(error)) return "serialization";
  const kind = KINDS[code] ?? (code.startsWith("08") ? "connection" : "other");
  // After an error that is not fatal the connection still works, even if a function or a foreign table raised such a code.
  return kind === "connection" && error.severity === "ERROR" ? "other" : kind;
}

/** The names before the values in `Key (slug, owner)=(a, b) already exists.`, in any language of the server. */
const KEY = /^[^(]*\(([^()=]+)\)=\(/;

/** The column of a missing value, or the columns of a key. For a key over an expression there are none. */
function readColumns({ column, detail = "", code = "" }: ServerError): readonly string[] {
  if (column !== undefined) return [column];
  const [, names] = KINDS[code] === "unique" || KINDS[code] === "foreignKey" ? (KEY.exec(detail) ?? []) : [];
  return names?.split(", ").map((name) => name.replaceAll('"', "")) ?? [];
}

function findText(error: ServerError, code: string): string | undefined {
  const { message, constraint, table } = error;
  if (isStalePlan(error)) return "the server no longer has the plan of the statement, or a table of it has changed";
  if (error.routine === "exec_bind_message" && code === "08P01")
    return "the statement has more or fewer placeholders than binds";
  if (constraint !== undefined) return `constraint ${constraint}${table === undefined ? "" : ` of ${table}`}`;
  return TEXTS[code] ?? (code.startsWith("42") && message !== "" ? message.slice(0, MAX_MESSAGE_LENGTH) : undefined);
}

/** The package gives this error no code. */
function findClosedCode(error: unknown): string | undefined {
  const isClosed = error instanceof Error && error.message === "Connection terminated unexpectedly";
  return isClosed ? "CONNECTION_CLOSED" : undefined;
}

/** The package gives this error no code. */
function findTlsReason(error: unknown): string | undefined {
  const isRefused = error instanceof Error && error.message === "The server does not support SSL connections";
  return isRefused ? "the server does not offer TLS" : undefined;
}

/** PgBouncer refuses the limits that the driver sets for a session, and names the first one, or `options`, which has them all. */
function findPoolerReason(error: unknown): string | undefined {
  const [, parameter] =
    error instanceof Error ? (/^unsupported startup parameter(?: in options)?: (\w+)/.exec(error.message) ?? []) : [];
  if (parameter === undefined) return undefined;
  return (
    `a pooler refuses the parameter ${parameter}, which sets statement_timeout and the other limits of a session: give postgres() the option ` +
    "transactionPooler: true, set the limits for the role, and give migrationUrl past the pooler"
  );
}
