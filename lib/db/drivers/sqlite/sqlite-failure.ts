/**
 * The meaning of an error of SQLite, by its extended result code. The text names only tables, columns and constraints. A message from the
 * execution of a statement may quote a value (`bad JSON path: …`), so it is left out. A message from the preparation quotes only the SQL.
 */
import { DriverError } from "../../driver-error.js";
import type { DriverFailure, FailureKind } from "../../driver.js";

/** The engine refused the SQL text before it got a bind. */
export class PrepareError extends Error {
  constructor(cause: unknown) {
    super("the statement cannot be prepared", { cause });
    this.name = "PrepareError";
  }
}

type CodeMeaning = readonly [name: string, kind: FailureKind];

/** Extended result codes whose meaning differs from their primary code. */
const EXTENDED: ReadonlyMap<number, CodeMeaning> = new Map<number, CodeMeaning>([
  [2067, ["SQLITE_CONSTRAINT_UNIQUE", "unique"]],
  [1555, ["SQLITE_CONSTRAINT_PRIMARYKEY", "unique"]],
  [2579, ["SQLITE_CONSTRAINT_ROWID", "unique"]],
  [787, ["SQLITE_CONSTRAINT_FOREIGNKEY", "foreignKey"]],
  [1299, ["SQLITE_CONSTRAINT_NOTNULL", "notNull"]],
  [275, ["SQLITE_CONSTRAINT_CHECK", "check"]],
  [1811, ["SQLITE_CONSTRAINT_TRIGGER", "other"]],
  [3091, ["SQLITE_CONSTRAINT_DATATYPE", "other"]],
  [517, ["SQLITE_BUSY_SNAPSHOT", "serialization"]],
]);

const PRIMARY: ReadonlyMap<number, CodeMeaning> = new Map<number, CodeMeaning>([
  [1, ["SQLITE_ERROR", "other"]],
  [5, ["SQLITE_BUSY", "busy"]],
  [6, ["SQLITE_LOCKED", "busy"]],
  [7, ["SQLITE_NOMEM", "full"]],
  [8, ["SQLITE_READONLY", "readOnly"]],
  [10, ["SQLITE_IOERR", "connection"]],
  [11, ["SQLITE_CORRUPT", "connection"]],
  [13, ["SQLITE_FULL", "full"]],
  [14, ["SQLITE_CANTOPEN", "connection"]],
  [18, ["SQLITE_TOOBIG", "other"]],
  [19, ["SQLITE_CONSTRAINT", "other"]],
  [20, ["SQLITE_MISMATCH", "other"]],
  [26, ["SQLITE_NOTADB", "connection"]],
]);

/** Texts for failures whose message is not used. */
const TEXTS: ReadonlyMap<number, string> = new Map([
  [10, "reading or writing the file failed"],
  [11, "the file is damaged"],
  [14, "the file cannot be opened"],
  [26, "the file is not a database of SQLite"],
]);

export function sqliteFailure(error: unknown): DriverFailure {
  if (error instanceof DriverError) return error.failure;
  if (error instanceof PrepareError) return { ...sqliteFailure(error.cause), text: getMessage(error.cause) };
  const extended = findResultCode(error);
  if (extended === undefined) return withoutCode(error);
  const [code, kind] = EXTENDED.get(extended) ?? PRIMARY.get(extended & 0xff) ?? [`SQLITE_${extended}`, "other"];
  if (EXTENDED.has(extended) && kind !== "other") return { kind, code, ...readConstraint(getMessage(error)) };
  return { kind, code, text: TEXTS.get(extended & 0xff) };
}

export function isBusy(error: unknown): boolean {
  const code = findResultCode(error instanceof PrepareError ? error.cause : error);
  return code !== undefined && code !== 517 && ((code & 0xff) === 5 || (code & 0xff) === 6);
}

function withoutCode(error: unknown): DriverFailure {
  // The engine refuses to round an integer of a row, and its message has the integer.
  const isTooLarge = error instanceof Error && error.message.includes("too large to be represented");
  if (!isTooLarge) return { kind: "other" };
  return { kind: "other", text: 'an integer is above 2^53: open the database with { integers: "bigint" }' };
}

function findResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode;
  // @photostructure/sqlite gives no number for a statement that returns rows.
  return CODES_BY_MESSAGE.find(([beginning]) => error.message.startsWith(beginning))?.[1];
}

/** The fixed texts of SQLite. */
const CODES_BY_MESSAGE: readonly (readonly [beginning: string, code: number])[] = [
  ["UNIQUE constraint failed", 2067],
  ["FOREIGN KEY constraint failed", 787],
  ["NOT NULL constraint failed", 1299],
  ["CHECK constraint failed", 275],
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
];

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

/** `UNIQUE constraint failed: links.slug, links.owner`, `… failed: index 'lower_slug'`, `CHECK constraint failed: positive`. */
function readConstraint(text: string): Omit<DriverFailure, "kind" | "code"> {
  const [, type, subject = ""] = /^(\w+(?: \w+)?) constraint failed(?:: (.*))?$/.exec(text) ?? [];
  if (type === undefined) return {};
  if (type === "CHECK") return { text, constraint: subject };
  const index = /^index '(.*)'$/.exec(subject)?.[1];
  if (index !== undefined) return { text, constraint: index };
  const columns = [...subject.matchAll(/([^.,]+)\.([^,]+)/g)];
  const table = columns[0]?.[1]?.trim();
  return { text, table, columns: columns.flatMap(([, , column]) => column ?? []) };
}
