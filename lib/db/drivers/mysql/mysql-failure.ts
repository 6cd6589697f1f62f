/**
 * The meaning of an error of MariaDB or MySQL. The servers quote values in their messages (`Duplicate entry 'ann@example.com'`), so the
 * texts are written here. Only names of constraints and columns are read from a message, and only for wrong SQL the whole message is used.
 *
 * A text of a client with a character that a column lacks, such as an emoji in a column of `latin1`, is refused where it is stored, and
 * also where it is compared. The numbers of these errors stand for faults of the schema too, such as a join of two columns with different
 * collations.
 */
import { DriverError, findErrorCode } from "../../driver-error.js";
import type { DriverFailure, FailureKind } from "../../driver.js";

const MAX_MESSAGE_LENGTH = 300;

const LACKING_CHARACTER = "a text has a character that the character set of a column lacks";
const MIX_OF_MANY = 1271;
const TOO_LONG = 1153;
/** A code of MariaDB. The package has the name from MySQL, where the number is an error of a table space. */
const CHECK_FAILED = 4025;

/** The kind of a failure, by the number of the error. */
const KINDS: ReadonlyMap<number, FailureKind> = new Map<number, FailureKind>([
  ...toEntries("unique", 1062, 1586),
  ...toEntries("foreignKey", 1216, 1217, 1451, 1452, 1701),
  ...toEntries("notNull", 1048, 1364),
  ...toEntries("check", 3819, CHECK_FAILED),
  ...toEntries("deadlock", 1213, 1614),
  // MariaDB from 11.6 on: a record has changed since the snapshot of the transaction.
  ...toEntries("serialization", 1020),
  ...toEntries("busy", 1205, 3572),
  ...toEntries("timeout", 1317, 1969, 3024),
  ...toEntries("readOnly", 1290, 1792, 1836),
  ...toEntries("full", 1021, 1041, 1114),
  ...toEntries("overloaded", 1040, 1203, 1226),
  ...toEntries("connection", 1053, 1080, 1152, 1158, 1159, 1160, 1161, 1927, 4031),
]);

const TEXTS: ReadonlyMap<number, string> = new Map([
  [1040, "the server has no place for another connection"],
  [1044, "the server refused the login"],
  [1045, "the server refused the login"],
  [1049, "the database does not exist"],
  [TOO_LONG, "the statement with its binds is longer than max_allowed_packet"],
  [1203, "the server has no place for another connection of this user"],
  [1226, "the server has no place for another connection of this user"],
  [1264, "a number is outside the range of its type"],
  [1292, "a text cannot be read as the type that it is compared or stored as"],
  [1317, "the statement was cancelled"],
  [1365, "a division by zero"],
  [1366, "a text cannot be read as the type of its column"],
  [1406, "a text is too long for its column"],
  [1698, "the server refused the login"],
  [1969, "the statement took longer than max_statement_time"],
  [3024, "the statement took longer than max_execution_time"],
]);

/** These errors quote names and the text of the statement, which has placeholders. */
const SAFE_MESSAGES: ReadonlySet<number> = new Set([1046, 1054, 1064, 1091, 1146, 1305, 1364]);

/** The whole transaction is rolled back, and not only the statement. */
const ENDS_TRANSACTION: ReadonlySet<number> = new Set([1020, 1213, 1614]);

export function mysqlFailure(error: unknown): DriverFailure {
  if (error instanceof DriverError) return error.failure;
  const number = findNumber(error);
  const code = number === CHECK_FAILED ? "ER_CONSTRAINT_FAILED" : findErrorCode(error);
  if (number === undefined || !(error instanceof Error))
    return { kind: isLostCode(code) ? "connection" : "other", code };
  const { message } = error;
  const constraint = findConstraint(message);
  const column = /^Column '([^']+)' cannot be null$/.exec(message)?.[1];
  if (lacksCharacter(number, message)) return { kind: "text", code, text: LACKING_CHARACTER };
  return {
    kind: KINDS.get(number) ?? "other",
    code: code ?? String(number),
    text: constraint === undefined ? findText(number, message) : `constraint ${constraint}`,
    constraint,
    ...(column !== undefined && { columns: [column] }),
  };
}

/**
 * The error of a statement with these parameters. For a mix of more than three collations the server does not name them. A mix of columns
 * fails with every parameter, so a parameter beyond ASCII is taken as the reason.
 */
export function statementError(error: unknown, parameters: readonly unknown[]): unknown {
  const isUnclear = findNumber(error) === MIX_OF_MANY && parameters.some(isBeyondAscii);
  return isUnclear ? new DriverError({ kind: "text", code: findErrorCode(error), text: LACKING_CHARACTER }) : error;
}

/** The failure of an attempt to connect. Only codes, never the text of the error: it may hold parts of the URL. */
export function mysqlConnectError(error: unknown, address: string): DriverError {
  if (error instanceof DriverError) return error;
  const number = findNumber(error);
  const code = findErrorCode(error);
  const reason = (number === undefined ? undefined : TEXTS.get(number)) ?? code ?? "the connection failed";
  const kind = number !== undefined && KINDS.get(number) === "overloaded" ? "overloaded" : "connection";
  return new DriverError({ kind, code, text: `cannot connect to ${address}: ${reason}` });
}

export function endsTransaction(error: unknown): boolean {
  const number = findNumber(error);
  return number !== undefined && ENDS_TRANSACTION.has(number);
}

/** True if the package has marked the connection as broken: it cannot be used again. */
export function isFatal(error: unknown): boolean {
  return error instanceof Error && "fatal" in error && error.fatal === true;
}

/** True if the server closes the connection after the error. It has not executed the statement. */
export function closesConnection(error: unknown): boolean {
  return findNumber(error) === TOO_LONG;
}

/** MariaDB puts `5.5.5-` before its version, for clients that know no version 10. */
export function isMariadb(version: string): boolean {
  return /mariadb/i.test(version.replace(/^5\.5\.5-/, ""));
}

/** True if a text of the statement has a character that a column lacks. */
function lacksCharacter(number: number, message: string): boolean {
  if (number === 3854) return true;
  // The code also stands for a text that is not a number.
  if (number === 1366) return message.startsWith("Incorrect string value");
  if (number === 3988) return message.endsWith("for parameter");
  return (number === 1267 || number === 1270) && isMixWithText(message);
}

/** `Illegal mix of collations (latin1_swedish_ci,IMPLICIT) and (utf8mb4_general_ci,COERCIBLE) for operation '='`: a text is coercible. */
function isMixWithText(message: string): boolean {
  const parts = [...message.matchAll(/\((\w+),(\w+)\)/g)].map(([, collation, kind]) => ({ collation, kind }));
  const others = parts.filter(({ kind }) => kind !== "COERCIBLE");
  return others.length < parts.length && new Set(others.map(({ collation }) => collation)).size === 1;
}

function isBeyondAscii(parameter: unknown): boolean {
  return typeof parameter === "string" && /[^\0-\x7f]/.test(parameter);
}

/** The value of a duplicate entry stands before the name of the key, so only the end of the message counts. */
function findConstraint(message: string): string | undefined {
  const key =
    /for key '([^']*)'$/.exec(message)?.[1] ?? /^Check constraint '([^']+)' is violated\.$/.exec(message)?.[1];
  if (key !== undefined) return key.slice(key.lastIndexOf(".") + 1);
  return (/ CONSTRAINT `([^`]+)` FOREIGN KEY /.exec(message) ?? /^CONSTRAINT `([^`]+)` failed for /.exec(message))?.[1];
}

function findText(number: number, message: string): string | undefined {
  return TEXTS.get(number) ?? (SAFE_MESSAGES.has(number) ? message.slice(0, MAX_MESSAGE_LENGTH) : undefined);
}

function findNumber(error: unknown): number | undefined {
  const number: unknown = error instanceof Error && "errno" in error ? error.errno : undefined;
  // The errors of Node have negative numbers.
  return typeof number === "number" && number > 0 ? number : undefined;
}

function isLostCode(code: string | undefined): boolean {
  return code !== undefined && /^(?:PROTOCOL_|E(?:CONN|PIPE|TIMEDOUT|HOST))/.test(code);
}

function toEntries(kind: FailureKind, ...numbers: readonly number[]): readonly (readonly [number, FailureKind])[] {
  return numbers.map((number) => [number, kind]);
}
