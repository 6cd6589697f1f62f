/**
 * An open file of SQLite with its prepared statements. Frequent statements are prepared once; the cache is bounded. A change of the schema
 * empties the caches of all handles of the file.
 *
 * Where another process has changed the schema, or a rollback has reverted a change, the engine silently prepares a statement again, and a
 * `*` stands for other columns. Columns that a statement names keep their names. So after a statement with a `*` the version of the schema
 * is read from the file, and where it has changed, the columns are read from the statement. Reading the version takes nearly as long as a
 * query by key, so a version is used for a millisecond.
 */
import { checkText, refuseBind } from "../../bind.js";
import { DriverError } from "../../driver-error.js";
import type { DriverResult, DriverStatement } from "../../driver.js";
import { JsonBind } from "../../json.js";
import { getStatementKind, mayHaveStar, refuseSecondStatement, type StatementKind } from "./sql-text.js";
import { openHandle, type PreparedStatement, type SqliteHandle, type SqliteValue } from "./sqlite-engine.js";
import { PrepareError } from "./sqlite-failure.js";

const MAX_CACHED_STATEMENTS = 200;
/** In characters. Longer texts are seldom sent twice. */
const MAX_CACHED_LENGTH = 20_000;
const VERSION_INTERVAL_MS = 1;

/** Shared by the handles of one file. */
export interface SqliteSettings {
  readonly file: string;
  /** The pragmas that each handle runs first. */
  readonly pragmas: readonly string[];
  readonly hasBigInts: boolean;
  /** Grows with each change of the schema. */
  schemaVersion: number;
}

type Values = readonly unknown[];

interface Prepared {
  readonly statement: PreparedStatement;
  /** Empty for a statement that returns no rows. */
  columns: readonly string[];
  readonly kind: StatementKind;
  /** True if its text may have a `*` that stands for columns. */
  readonly hasStar: boolean;
  /** The version of the schema to which `columns` belong; `undefined` until rows were read. */
  version: unknown;
}

export class SqliteFile {
  private readonly handle: SqliteHandle;
  private readonly cache = new Map<string, Prepared>();
  private cachedVersion: number;
  /** Reads the version of the schema from the file. */
  private readonly version: PreparedStatement;
  private versionReadAt = Number.NEGATIVE_INFINITY;
  private fileVersion: unknown = undefined;
  /** True if the transaction has changed the schema. The end of the transaction or of a savepoint may revert the change. */
  private hasChangedSchema = false;
  /** False if certainly no transaction is open. To ask the engine is one more call, which costs a noticeable part of a query. */
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
    this.renewSchemaVersion();
  }

  /** @throws PrepareError, an error of the engine, FrameworkError `E_DB_BIND` */
  run({ sql, parameters, isOneRow }: Pick<DriverStatement, "sql" | "parameters" | "isOneRow">): DriverResult {
    const prepared = this.getPrepared(sql);
    const binds = parameters.map(toBind);
    if (prepared.columns.length > 0) {
      // The engine stops after the first row of a read. A write must reach its last row.
      const isFirst = isOneRow === true && prepared.kind === "read";
      return isFirst ? this.readFirstRow(prepared, binds) : this.readAllRows(prepared, binds);
    }
    // An application may send `begin` itself.
    this.mayBeInTransaction = true;
    const { changes, lastInsertRowid } = prepared.statement.run(...binds);
    if (prepared.kind === "schema") {
      this.settings.schemaVersion++;
      this.hasChangedSchema = true;
    }
    if (prepared.kind === "read") this.renewSchemaVersion();
    if (prepared.kind !== "write") return NO_ROWS;
    return { rows: [], affected: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  /** Called after a statement that may have ended a transaction or a savepoint, and so may have reverted a change of the schema. */
  private renewSchemaVersion(): void {
    if (!this.hasChangedSchema) return;
    this.settings.schemaVersion++;
    this.hasChangedSchema = this.isInTransaction;
  }

  close(): void {
    this.cache.clear();
    if (!this.readOnly) this.checkpoint();
    this.handle.close();
  }

  /**
   * Moves the log into the file. The engine does that at the last close, but @photostructure/sqlite leaves the file open until all
   * statements are collected as garbage.
   */
  private checkpoint(): void {
    try {
      this.handle.exec("pragma wal_checkpoint(truncate)");
    } catch {
      // Another process reads, or the disk is full: the log stays beside the file, and no row is lost.
    }
  }

  /** The engine returns arrays, which become objects of one shape here: this takes half the time of the objects that the engine creates. */
  private readAllRows(prepared: Prepared, binds: readonly SqliteValue[]): DriverResult {
    // `setReturnArrays` is on.
    const arrays = prepared.statement.all(...binds) as readonly Values[];
    const [first] = arrays;
    const columns = first === undefined ? [] : this.getCurrentColumns(prepared, first);
    const rows = arrays.map((values) => toRow(columns, values));
    return prepared.kind === "write" ? { rows, affected: BigInt(rows.length) } : { rows };
  }

  private readFirstRow(prepared: Prepared, binds: readonly SqliteValue[]): DriverResult {
    // `setReturnArrays` is on.
    const values = prepared.statement.get(...binds) as Values | undefined;
    if (values === undefined) return NO_ROWS;
    return { rows: [toRow(this.getCurrentColumns(prepared, values), values)] };
  }

  /** The columns of the rows that the statement has just returned. After a change of the schema it knows them only when it has run. */
  private getCurrentColumns(prepared: Prepared, values: Values): readonly string[] {
    const version = prepared.hasStar ? this.getRecentVersion() : NO_STAR;
    if (version === undefined || version !== prepared.version || values.length !== prepared.columns.length) {
      prepared.columns = getColumns(prepared.statement);
      prepared.version = version;
    }
    return prepared.columns;
  }

  private getRecentVersion(): unknown {
    const now = performance.now();
    if (now - this.versionReadAt < VERSION_INTERVAL_MS) return this.fileVersion;
    this.versionReadAt = now;
    return (this.fileVersion = this.readVersion());
  }

  /** `undefined` where another process has locked the file meanwhile. This is no failure: the statement has run already. */
  private readVersion(): unknown {
    try {
      // `setReturnArrays` is on.
      return (this.version.get() as readonly unknown[])[0];
    } catch {
      return undefined;
    }
  }

  private getPrepared(sql: string): Prepared {
    if (this.cachedVersion !== this.settings.schemaVersion) this.forgetStatements();
    const cached = this.cache.get(sql);
    if (cached === undefined) return this.prepare(sql);
    return cached;
  }

  private prepare(sql: string): Prepared {
    const kind = getStatementKind(sql);
    if (kind !== "schema" && sql.includes(";")) refuseSecondStatement(sql);
    let statement: PreparedStatement;
    try {
      statement = this.handle.prepare(sql);
    } catch (error) {
      throw new PrepareError(error);
    }
    statement.setReturnArrays(true);
    if (this.settings.hasBigInts) statement.setReadBigInts(true);
    const hasStar = mayHaveStar(sql);
    const prepared: Prepared = { statement, columns: getColumns(statement), kind, hasStar, version: undefined };
    if (sql.length <= MAX_CACHED_LENGTH && kind !== "schema") this.cacheStatement(sql, prepared);
    return prepared;
  }

  /** A full cache drops the statement that was prepared first. */
  private cacheStatement(sql: string, prepared: Prepared): void {
    if (this.cache.size >= MAX_CACHED_STATEMENTS) {
      const oldest = this.cache.keys().next();
      if (oldest.done !== true) this.cache.delete(oldest.value);
    }
    this.cache.set(sql, prepared);
  }

  private forgetStatements(): void {
    this.cache.clear();
    this.versionReadAt = Number.NEGATIVE_INFINITY;
    this.cachedVersion = this.settings.schemaVersion;
  }
}

const NO_ROWS: DriverResult = Object.freeze({ rows: [] });

/** Stands for the version of the schema where the statement names its columns. */
const NO_STAR = Symbol("no star");

function toRow(columns: readonly string[], values: Values): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ""] = values[index];
  return row;
}

function getColumns(statement: PreparedStatement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}

/** A date becomes its text in ISO 8601, a boolean 1 or 0. */
function toBind(value: unknown, index: number): SqliteValue {
  switch (typeof value) {
    case "string":
      // The engine silently cuts the text off there, and a condition would match another value.
      if (value.includes("\0")) throw new DriverError({ kind: "text" });
      checkText(value);
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
      if (value instanceof JsonBind) return value.text;
      return refuseBind(value, index);
    default:
      return refuseBind(value, index);
  }
}
