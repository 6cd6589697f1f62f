/**
 * Kysely over a `DatabaseDriver`: the query builder writes the SQL of the dialect, and every statement goes through one function, which
 * knows the current transaction. Kysely's transactions and connections are refused, because they would use a broken connection again.
 *
 * Works with Kysely 0.28, and with 0.29 on Node 22 or newer.
 */
import type * as KyselyPackage from "kysely";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely, KyselyPlugin, QueryResult } from "kysely";
import { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { expectPeer, requirePeer } from "../errors/optional-package.js";
import { type MaybePromise, toPromise } from "./maybe-promise.js";
import type { DatabaseDialect, SqlFamily } from "./dialect.js";
import type { DriverResult } from "./driver.js";

// 0.28.17 fixed the last known injection of 0.28. 0.29 needs Node 22.
const PEER = {
  entry: "@stagecraft/framework/db",
  name: "kysely",
  from: "0.28.17",
  before: Number.parseInt(process.versions.node) < 22 ? "0.29.0" : "0.30.0",
  install: Number.parseInt(process.versions.node) < 22 ? "kysely@0.28" : "kysely@0.29",
};

expectPeer(PEER);
const kysely = requirePeer(PEER) as typeof KyselyPackage;

/**
 * Kysely's tag for raw SQL inside a query: values become parameters. It belongs to the copy of Kysely that the framework has loaded. An ES
 * module that imports `sql` from `kysely` loads the package a second time, which takes a tenth of a second at each start.
 *
 * @example
 * const shorter = db.query.selectFrom("users").where(sql<boolean>`length(name) < ${20}`);
 */
export const { sql } = kysely;

/** The kind of a statement; the label of its metric. */
export type StatementOperation = "select" | "insert" | "update" | "delete" | "merge" | "schema" | "raw";

export interface BuiltStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly operation: StatementOperation;
  readonly isRead: boolean;
  /** True for a read whose caller uses only the first row. */
  readonly isOneRow: boolean;
}

export interface StatementSink {
  /** Returns the result of `read`. */
  execute<R>(statement: BuiltStatement, read: (result: DriverResult) => R): MaybePromise<R>;
}

/** A query builder whose statements go to `sink`. @throws FrameworkError `E_DB_DIALECT` */
export function createQueryBuilder<Tables>(
  dialect: DatabaseDialect,
  sink: StatementSink,
  plugins: readonly KyselyPlugin[],
): Kysely<Tables> {
  const connection = new SinkConnection(sink);
  const driver = new SinkDriver(connection);
  const parts: Dialect = { ...getParts(dialect), createDriver: () => driver };
  const executor = new SinkExecutor(parts, driver, connection, plugins);
  return new kysely.Kysely<Tables>({ config: { dialect: parts }, dialect: parts, driver, executor });
}

type Parts = Omit<Dialect, "createDriver">;

const PARTS: Readonly<Record<SqlFamily, Parts>> = {
  sqlite: {
    createAdapter: () => new kysely.SqliteAdapter(),
    createQueryCompiler: () => new kysely.SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new kysely.SqliteIntrospector(db),
  },
  postgres: {
    createAdapter: () => new kysely.PostgresAdapter(),
    createQueryCompiler: () => new kysely.PostgresQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new kysely.PostgresIntrospector(db),
  },
  mysql: {
    createAdapter: () => new kysely.MysqlAdapter(),
    createQueryCompiler: () => new kysely.MysqlQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new kysely.MysqlIntrospector(db),
  },
};

/** A driver written in JavaScript may have any dialect. */
function getParts({ family }: Partial<DatabaseDialect>): Parts {
  if (family !== undefined && Object.hasOwn(PARTS, family)) return PARTS[family];
  const known = Object.keys(PARTS).join(", ");
  throw createSetupError("E_DB_DIALECT", `dialect.family of the driver is ${valueText(family)}: use one of ${known}`);
}

/** Stands for every connection: the sink chooses the real one at each statement. */
class SinkConnection implements DatabaseConnection {
  constructor(private readonly sink: StatementSink) {}

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return toPromise(() => this.sink.execute(toStatement(query), toQueryResult<R>));
  }

  streamQuery(): never {
    throw new FrameworkError("rows cannot be streamed: read them in pages", { code: "E_DB_STREAM" });
  }
}

class SinkDriver implements Driver {
  constructor(private readonly connection: DatabaseConnection) {}

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.connection;
  }
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    throw new FrameworkError("Kysely's transactions are off: call db.transaction(…) of the database", {
      code: "E_DB_KYSELY_TRANSACTION",
    });
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
}

/**
 * Kysely takes a connection for each statement, which costs six promises. The sink chooses the connection itself, so a statement goes
 * directly to the sink. With plugins, which change the result, Kysely's executor runs.
 */
class SinkExecutor extends kysely.DefaultQueryExecutor {
  constructor(
    private readonly dialect: Dialect,
    private readonly driver: Driver,
    private readonly connection: DatabaseConnection,
    plugins: readonly KyselyPlugin[],
  ) {
    const provider = new kysely.DefaultConnectionProvider(driver);
    super(dialect.createQueryCompiler(), dialect.createAdapter(), provider, [...plugins]);
  }

  override withoutPlugins(): SinkExecutor {
    return new SinkExecutor(this.dialect, this.driver, this.connection, []);
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.plugins.length === 0 ? this.connection.executeQuery(query) : super.executeQuery(query);
  }
}

function toQueryResult<R>(result: DriverResult): QueryResult<R> {
  const { affected, changed, insertId } = result;
  // The application declares the type of a row with its tables.
  const rows = result.rows as R[];
  if (affected === undefined && changed === undefined && insertId === undefined) return { rows };
  return {
    rows,
    ...(affected !== undefined && { numAffectedRows: affected }),
    ...(changed !== undefined && { numChangedRows: changed }),
    ...(insertId !== undefined && { insertId }),
  };
}

const OPERATIONS: Readonly<Partial<Record<CompiledQuery["query"]["kind"], StatementOperation>>> = {
  SelectQueryNode: "select",
  InsertQueryNode: "insert",
  UpdateQueryNode: "update",
  DeleteQueryNode: "delete",
  MergeQueryNode: "merge",
  RawNode: "raw",
};

function toStatement({ query, sql: text, parameters }: CompiledQuery): BuiltStatement {
  const operation = OPERATIONS[query.kind] ?? "schema";
  const isRead = operation === "select" ? isPlainSelect(query) : isRawRead(text);
  return { sql: text, parameters, operation, isRead, isOneRow: false };
}

/** Runs the query with other parameters each time. */
export function createPreparedRun<Row>(compiled: CompiledQuery<Row>, { execute }: Pick<StatementSink, "execute">) {
  const { sql: text, operation, isRead } = toStatement(compiled);
  return <R>(
    parameters: readonly unknown[],
    read: (result: { readonly rows: readonly Row[] }) => R,
    isFirst: boolean,
  ): MaybePromise<R> => {
    const statement = { sql: text, parameters, operation, isRead, isOneRow: isFirst && isRead };
    // The application declares the type of a row with its tables.
    return execute(statement, read as (result: DriverResult) => R);
  };
}

/**
 * A statement that the application wrote. @throws FrameworkError `E_DB_STATEMENT` for a value that is no text, for which a driver may wait
 * for ever
 */
export function toRawStatement(text: string, parameters: readonly unknown[]): BuiltStatement {
  if (typeof text !== "string")
    throw new FrameworkError(`db.run(…) takes a text of SQL, not ${valueText(text)}`, { code: "E_DB_STATEMENT" });
  return { sql: text, parameters, operation: "raw", isRead: isRawRead(text), isOneRow: false };
}

/** False for a select whose `with` has other statements than selects: PostgreSQL allows writes there. */
function isPlainSelect(query: CompiledQuery["query"]): boolean {
  if (query.kind !== "SelectQueryNode") return false;
  return query.with?.expressions.every(({ expression }) => expression.kind === "SelectQueryNode") ?? true;
}

/**
 * False for a text that starts with `with`, because it may write; for a text that may have a second statement or write `into` a table; and
 * for `explain analyze`, which runs the statement.
 */
function isRawRead(text: string): boolean {
  return /^\s*(?:select|values|explain)\b/i.test(text) && !/;\s*[^\s;]|\binto\b|\banaly[sz]e\b/i.test(text);
}
