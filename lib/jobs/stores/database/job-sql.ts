/**
 * Statements of the queue in the SQL of one engine. They run in the transaction of the caller, if there is one. Texts are always binds;
 * numbers that this program has checked stand in the text, because PostgreSQL cannot infer the type of a bind in a list of columns.
 *
 * Times are milliseconds by the clock of the database, so that the clocks of several machines need not agree. A test replaces the clock.
 */
import { FrameworkError } from "../../../errors/framework-error.js";
import type { Clock } from "../../../runtime/clock.js";
import { KeyMutex } from "./key-mutex.js";
import { MysqlRanges } from "./mysql-ranges.js";

/** The values of `SqlFamily` in lib/db. The driver for a compatible engine names the family whose SQL the engine accepts. */
export type JobSqlFamily = "sqlite" | "postgres" | "mysql";

export type JobRow = Readonly<Record<string, unknown>>;

export interface JobRows {
  readonly rows: readonly JobRow[];
  readonly affected: number;
}

/** The part of a `Database` that the queue uses. */
export interface JobDatabase {
  readonly name?: string | undefined;
  readonly driver: {
    readonly dialect: { readonly family: JobSqlFamily };
    listen?(channel: string, listener: () => void): () => void;
  };
  readonly query: { withoutPlugins(): { executeQuery(statement: RawStatement): Promise<RawResult> } };
  transaction<T>(fn: () => Promise<T>, options?: { readonly isolation?: "read committed" }): Promise<T>;
  current<T>(fn: () => Promise<T>): Promise<T>;
  /** True if the innermost transaction of the running code is one of this database. Absent: any transaction counts as such. */
  ownsTransaction?(): boolean;
  /** The start of the database fails without this table. @internal */
  requireTable?(required: { readonly table: string; readonly migrations: string }): void;
}

/** A compiled query of Kysely, created without the package. */
export interface RawStatement {
  readonly query: {
    readonly kind: "RawNode";
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly [];
  };
  readonly queryId: { readonly queryId: string };
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface RawResult {
  readonly rows: readonly unknown[];
  readonly numAffectedRows?: bigint | undefined;
}

const NOW: Readonly<Record<JobSqlFamily, string>> = {
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  postgres: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
  mysql: "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
};

export class JobSql {
  readonly family: JobSqlFamily;
  readonly keyMutex = new KeyMutex();
  /** Set by a test. */
  clock: Clock | undefined;
  /** Only for MySQL and MariaDB. */
  readonly ranges = new MysqlRanges();
  private readonly query: ReturnType<JobDatabase["query"]["withoutPlugins"]>;
  private sizeClass: number | undefined;
  private marks = 0;

  constructor(readonly database: JobDatabase) {
    this.family = database.driver.dialect.family;
    this.query = database.query.withoutPlugins();
  }

  /** The time, as an expression. */
  get now(): string {
    return this.clock === undefined ? NOW[this.family] : String(Math.trunc(this.clock.now()));
  }

  /**
   * A comment after a statement that claims or completes, for PostgreSQL. The server keeps the plan of a text that is sent again, and a
   * plan for an empty table reads the whole table for each job. So each size class of the table has a separate text, and the text after a
   * claim that found no job is sent only once.
   */
  get planMark(): string {
    return this.family === "postgres" ? ` /* ${this.sizeClass ?? `once ${(this.marks += 1)}`} */` : "";
  }

  /** @param bytes the size of the table as the server writes it; absent if the result had no row */
  recordSize(bytes: unknown): void {
    this.sizeClass = bytes === undefined ? undefined : Math.ceil(Math.log2(Number(bytes) + 1) / 2);
  }

  /** @param sql with `?` for each bind, and no other question mark */
  async run(sql: string, parameters: readonly (string | null)[] = []): Promise<JobRows> {
    const text = this.family === "postgres" ? numberBinds(sql) : sql;
    const { rows, numAffectedRows = 0n } = await this.query.executeQuery(toRawStatement(text, parameters));
    // Each statement names its columns.
    return { rows: rows as JobRows["rows"], affected: Number(numAffectedRows) };
  }
}

/** A statement for Kysely. */
export function toRawStatement(sql: string, parameters: readonly unknown[] = []): RawStatement {
  return {
    query: { kind: "RawNode", sqlFragments: [sql], parameters: [] },
    queryId: { queryId: "framework_jobs" },
    sql,
    parameters,
  };
}

/** A database of the framework, recognised by its shape: jobs load no code of databases. */
export function isJobDatabase(value: unknown): value is JobDatabase {
  if (typeof value !== "object" || value === null) return false;
  return "kind" in value && value.kind === "database" && "driver" in value && "query" in value && "current" in value;
}

/** `(?, ?, ?)` */
export function binds(count: number): string {
  return `(${Array.from({ length: count }, () => "?").join(", ")})`;
}

/** A number for the text of a statement. @throws RangeError */
export function literal(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`);
  return String(value);
}

/** The kind of a `DatabaseError`, by its shape. */
export function isFailure(error: unknown, kind: string): boolean {
  return error instanceof FrameworkError && "kind" in error && error.kind === kind;
}

function numberBinds(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => `$${(count += 1)}`);
}
