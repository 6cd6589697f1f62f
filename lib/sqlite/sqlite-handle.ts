/**
 * An open file of SQLite with its prepared statements. Hot statements are prepared once; the cache is bounded. A change of the schema
 * empties the caches of all handles of the file.
 *
 * Where another process has changed the schema, or a rollback has undone a change, the engine silently prepares a statement anew, and a `*`
 * stands for other columns. Columns that a statement names keep their names. Behind a `*` the engine names the values of a single row, half
 * a microsecond. After several rows the file is asked for the version of its schema, a whole one, and the statement for its columns where
 * the version is another one than the last time.
 */
import { refuseBind } from "../db/bind.js";
import { DriverError } from "../db/driver-error.js";
import type { DriverResult, DriverStatement } from "../db/driver.js";
import { kindOf, mayHaveStar, refuseSecondStatement, type StatementKind } from "./sql-text.js";
import { openHandle, type PreparedStatement, type SqliteHandle, type SqliteValue } from "./sqlite-engine.js";
import { PrepareError } from "./sqlite-failure.js";

const MAX_CACHED_STATEMENTS = 200;
/** In characters. Longer texts are seldom sent twice. */
const MAX_CACHED_LENGTH = 20_000;

/** Shared by the handles of one file. */
export interface SqliteSettings {
  readonly file: string;
  /** What each handle runs first. */
  readonly pragmas: readonly string[];
  readonly hasBigInts: boolean;
  /** Grows with each change of the schema. */
  schemaVersion: number;
}

type RowObject = Readonly<Record<string, unknown>>;
type Values = readonly unknown[];

interface Prepared {
  readonly statement: PreparedStatement;
  /** Empty for a statement that returns no rows. */
  columns: readonly string[];
  readonly kind: StatementKind;
  /** Whether the engine returns an object for a row, or an array. */
  returnsObjects: boolean;
  /** True if its text may have a `*` that stands for columns. */
  readonly hasStar: boolean;
  /** The version of the schema that `columns` are of; `undefined` until rows were read. */
  version: unknown;
}

export class SqliteFile {
  private readonly handle: SqliteHandle;
  private readonly cache = new Map<string, Prepared>();
  private cachedVersion: number;
  private readonly version: PreparedStatement;
  /** False if certainly no transaction is open. Asking the engine takes a call of its own, a noticeable part of a query. */
  private mayBeInTransaction = false;

  /** Opens the file. @param readOnly the handle cannot write */
  constructor(
    private readonly settings: SqliteSettings,
    readonly readOnly: boolean,
  ) {
    this.handle = openHandle(settings.file, readOnly);
    this.cachedVersion = settings.schemaVersion;
    try {
      for (const pragma of settings.pragmas) this.handle.exec(`pragma ${pragma}`);
      this.version = this.handle.prepare("pragma schema_version");
      this.version.setReturnArrays(true);
    } catch (error) {
      this.handle.close();
      throw error;
    }
  }

  get isInTransaction(): boolean {
    if (this.mayBeInTransaction) this.mayBeInTransaction = this.handle.isTransaction;
    return this.mayBeInTransaction;
  }

  /** For statements without binds and rows. */
  exec(sql: string): void {
    this.mayBeInTransaction = true;
    this.handle.exec(sql);
  }

  /** @throws PrepareError, an error of the engine, FrameworkError `E_DB_BIND` */
  run({ sql, parameters, isOneRow }: Pick<DriverStatement, "sql" | "parameters" | "isOneRow">): DriverResult {
    const prepared = this.prepared(sql);
    const binds = parameters.map(bindOf);
    if (prepared.columns.length > 0) {
      // The engine stops after the first row of a read. A write must reach its last row.
      const isFirst = isOneRow === true && prepared.kind === "read";
      return isFirst ? this.firstRow(prepared, binds) : this.allRows(prepared, binds);
    }
    // An application may send `begin` itself.
    this.mayBeInTransaction = true;
    const { changes, lastInsertRowid } = prepared.statement.run(...binds);
    if (prepared.kind === "schema") this.settings.schemaVersion++;
    if (prepared.kind !== "write") return NO_ROWS;
    return { rows: [], affected: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  close(): void {
    this.cache.clear();
    if (!this.readOnly) this.moveLog();
    this.handle.close();
  }

  /** @photostructure/sqlite keeps the file open until all statements are collected, and the engine moves the log at the last close. */
  private moveLog(): void {
    try {
      this.handle.exec("pragma wal_checkpoint(truncate)");
    } catch {
      // Another process reads, or the disk is full: the log stays beside the file, and nothing is lost.
    }
  }

  /** Arrays that become objects of one shape take half the time of the engine's own objects. */
  private allRows(prepared: Prepared, binds: readonly SqliteValue[]): DriverResult {
    const arrays = returning("arrays", prepared).all(...binds) as readonly Values[];
    const [first] = arrays;
    const columns = first === undefined ? [] : this.columnsFor(prepared, first);
    const rows = arrays.map((values) => rowOf(columns, values));
    return prepared.kind === "write" ? { rows, affected: BigInt(rows.length) } : { rows };
  }

  private firstRow(prepared: Prepared, binds: readonly SqliteValue[]): DriverResult {
    const found = returning(prepared.hasStar ? "objects" : "arrays", prepared).get(...binds);
    if (found === undefined) return NO_ROWS;
    if (prepared.hasStar) return { rows: [plain(found as RowObject)] };
    const values = found as Values;
    return { rows: [rowOf(this.columnsFor(prepared, values), values)] };
  }

  /** The columns of the rows that the statement has just returned. It knows those of a changed schema only when it has run. */
  private columnsFor(prepared: Prepared, values: Values): readonly string[] {
    const version = prepared.hasStar ? this.versionNow() : NO_STAR;
    if (version === undefined || version !== prepared.version || values.length !== prepared.columns.length) {
      prepared.columns = columnsOf(prepared.statement);
      prepared.version = version;
    }
    return prepared.columns;
  }

  /** `undefined` where another process has locked the file in the meantime: the rows are read, and a write is done. */
  private versionNow(): unknown {
    try {
      // `setReturnArrays` is on.
      return (this.version.get() as readonly unknown[])[0];
    } catch {
      return undefined;
    }
  }

  private prepared(sql: string): Prepared {
    if (this.cachedVersion !== this.settings.schemaVersion) this.forgetStatements();
    const cached = this.cache.get(sql);
    if (cached === undefined) return this.prepare(sql);
    return cached;
  }

  private prepare(sql: string): Prepared {
    const kind = kindOf(sql);
    if (kind !== "schema" && sql.includes(";")) refuseSecondStatement(sql);
    let statement: PreparedStatement;
    try {
      statement = this.handle.prepare(sql);
    } catch (error) {
      throw new PrepareError(error);
    }
    if (this.settings.hasBigInts) statement.setReadBigInts(true);
    const hasStar = mayHaveStar(sql);
    const prepared: Prepared = {
      statement,
      columns: columnsOf(statement),
      kind,
      returnsObjects: true,
      hasStar,
      version: undefined,
    };
    if (sql.length <= MAX_CACHED_LENGTH && kind !== "schema") this.keep(sql, prepared);
    return prepared;
  }

  /** The statement that was prepared first is removed. */
  private keep(sql: string, prepared: Prepared): void {
    if (this.cache.size >= MAX_CACHED_STATEMENTS) {
      const oldest = this.cache.keys().next();
      if (oldest.done !== true) this.cache.delete(oldest.value);
    }
    this.cache.set(sql, prepared);
  }

  private forgetStatements(): void {
    this.cache.clear();
    this.cachedVersion = this.settings.schemaVersion;
  }
}

const NO_ROWS: DriverResult = Object.freeze({ rows: [] });

/** Stands for the version of the schema where the statement names its columns. */
const NO_STAR = Symbol("no star");

/** The statement, which returns rows in this form from now on. */
function returning(form: "arrays" | "objects", prepared: Prepared): PreparedStatement {
  const isObjects = form === "objects";
  if (prepared.returnsObjects !== isObjects) prepared.statement.setReturnArrays(!isObjects);
  prepared.returnsObjects = isObjects;
  return prepared.statement;
}

/** The objects of the engine have no prototype, and those of `rowOf` have one. */
function plain(found: RowObject): RowObject {
  const row: Record<string, unknown> = {};
  for (const name in found) row[name] = found[name];
  return row;
}

function rowOf(columns: readonly string[], values: Values): RowObject {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ""] = values[index];
  return row;
}

function columnsOf(statement: PreparedStatement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}

/** A date becomes its text in ISO 8601, a boolean 1 or 0. */
function bindOf(value: unknown, index: number): SqliteValue {
  switch (typeof value) {
    case "string":
      // The engine ends a text there in silence: a condition would be about another value.
      if (value.includes("\0")) throw new DriverError({ kind: "text" });
      return value;
    case "number":
      // The engine would store null.
      return Number.isNaN(value) ? refuseBind(value, index) : value;
    case "bigint":
      return value;
    case "boolean":
      return value ? 1 : 0;
    case "object":
      if (value === null || value instanceof Uint8Array) return value;
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
      return refuseBind(value, index);
    default:
      return refuseBind(value, index);
  }
}
