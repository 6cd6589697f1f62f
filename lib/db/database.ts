/**
 * A database of the application: a typed query builder, transactions that nested calls join without a parameter, and work that runs after
 * the commit. Extend it with the types of the tables, provide it with a driver, and inject the class. Several databases are several
 * classes; they have the same kind of driver.
 *
 * Every query runs in the transaction of the code that executes it. Its signal is that of the request, so the end of the request cancels
 * the query.
 *
 * Not for data of one process: that is a `Map`. Not for values that may be lost: that is a cache.
 *
 * @example
 * class ShopDatabase extends Database<{ links: { slug: string; target: string } }> {}
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("shop.db")));
 *
 * @Injectable()
 * class LinkStore {
 *   constructor(private readonly db: ShopDatabase) {}
 *   find(slug: string) {
 *     return this.db.query.selectFrom("links").selectAll().where("slug", "=", slug).executeTakeFirst();
 *   }
 * }
 */
import type { Compilable, Kysely, KyselyPlugin, QueryResult } from "kysely";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { unchanged, type SubsystemHost } from "../lifecycle/operations.js";
import { findProcessState, type PerProcess, type ProcessState } from "../lifecycle/process-state.js";
import { Subsystem } from "../lifecycle/subsystem.js";
import type { MaybePromise } from "./maybe-promise.js";
import { DatabaseDriver, type DriverResult } from "./driver.js";
import {
  type BuiltStatement,
  createQueryBuilder,
  toRawStatement,
  createPreparedRun,
  type StatementSink,
} from "./kysely.js";
import { LoneQuery } from "./lone-query.js";
import type { Migration } from "./migrations/migration.js";
import type { MigrationSource } from "./migrations/migration-list.js";
import { Migrator } from "./migrations/migrator.js";
import { createPreparedQuery, type PreparedQuery } from "./prepared-query.js";
import { checkTables, type RequiredTable } from "./required-tables.js";
import { type Seed, Seeds } from "./seeds.js";
import { Statements } from "./statements.js";
import { createStandaloneHost } from "./standalone-host.js";
import type { TransactionRun } from "./transactions/transaction-level.js";
import type { TransactionOptions } from "./transactions/transaction-options.js";
import { Transactions } from "./transactions/transactions.js";

export interface DatabaseOptions {
  /** The name in health checks and events, where there are several databases; the name of the class unless set. */
  readonly name?: string;
  /** Plugins of Kysely, for example `CamelCasePlugin`. */
  readonly plugins?: readonly KyselyPlugin[];
  /** A query that takes at least this long is a WARN event with its SQL, without binds. 500 ms unless set, on SQLite 50 ms. */
  readonly slowQueryMs?: number;
  /** The migrations in their order: values, lists of values, and folders (`readMigrations`). */
  readonly migrations?: readonly (MigrationSource | readonly Migration[])[];
  /** True: the start applies the pending migrations. Otherwise the start fails and names them. */
  readonly migrate?: boolean;
  /** The seeds in their order, which `stagecraft db:seed` and `db.seeds.run()` run. */
  readonly seeds?: readonly Seed[];
}

const OPTIONS: OptionNames<DatabaseOptions> = {
  name: true,
  plugins: true,
  slowQueryMs: true,
  migrations: true,
  migrate: true,
  seeds: true,
};

export abstract class Database<Tables> extends Subsystem implements PerProcess {
  readonly kind = "database";
  override readonly followsRequests = true;
  override readonly name: string;

  /** Kysely on this database. Its statements run in the transaction of the code that executes them. */
  readonly query: Kysely<Tables>;

  /** Applies migrations, rolls them back, and lists the pending ones. */
  readonly migrations: Migrator;

  /** Runs the seeds. No start runs them. */
  readonly seeds: Seeds;

  private statements: Statements | undefined = undefined;
  private readonly requiredTables = new Map<string, RequiredTable>();
  private readonly transactions = new Transactions(() => this.getStatements());

  /** Opens no connection. @throws FrameworkError `E_DB_DRIVER` without a driver, `E_DB_DIALECT`, `E_OPTION` */
  constructor(
    /** The driver. Its `dialect` names the engine and the features of its SQL. */
    readonly driver: DatabaseDriver,
    private readonly options: DatabaseOptions = {},
  ) {
    super();
    checkOptionNames(options, OPTIONS, `new ${new.target.name}`);
    if (!(driver instanceof DatabaseDriver)) throw missingDriverError(new.target.name);
    this.name = options.name ?? new.target.name;
    this.migrations = new Migrator(
      () => this.getStatements(),
      options.migrations ?? [],
      () => this.transactions.refuseSecondConnection(),
    );
    this.seeds = new Seeds(this, options.seeds ?? []);
    this.query = createQueryBuilder(driver.dialect, this.createSink(), options.plugins ?? []);
  }

  /** That of the driver. */
  get perProcess(): ProcessState | undefined {
    return findProcessState(this.driver);
  }

  override prepare(host: SubsystemHost): void {
    this.useHost(host);
  }

  override async start(): Promise<void> {
    const { driver } = this.getStatements();
    try {
      await driver.start();
    } catch (error) {
      throw this.getStatements().translateError(error);
    }
    try {
      if (!this.migrations.isEmpty)
        await (this.options.migrate === true ? this.migrations.run() : this.migrations.throwIfPending());
      await checkTables(this, this.requiredTables.values());
    } catch (error) {
      await this.driver.stop();
      throw error;
    }
  }

  /** The start fails without this table. @internal */
  requireTable(required: RequiredTable): void {
    this.requiredTables.set(required.table, required);
  }

  override stop(): Promise<void> {
    return this.driver.stop();
  }

  override async probe(signal: AbortSignal): Promise<void> {
    try {
      await this.getStatements().driver.probe(signal);
    } catch (error) {
      throw this.getStatements().translateError(error, signal);
    }
  }

  /** All databases of an application use the same dialect. */
  override check(all: readonly Subsystem[]): readonly Diagnostic[] {
    const first = all.find((each) => each instanceof Database);
    if (first === undefined || first.driver.dialect.name === this.driver.dialect.name) return [];
    return [
      {
        code: "E_DB_DRIVERS",
        what: `${this.name} is on ${this.driver.dialect.name}, and ${first.name} is on ${first.driver.dialect.name}`,
        where: "the providers of the databases",
        fix: "use drivers of one dialect in an application; several databases are several classes",
      },
    ];
  }

  /**
   * Runs `fn` in a transaction. It commits when `fn` has returned, and rolls back if `fn` throws or the request ends. Inside another
   * transaction of this database, `fn` runs in a savepoint: if it throws, its changes are rolled back, and the outer function may continue.
   *
   * @throws the error of `fn`; DatabaseError; UnknownOutcomeError if the connection was lost during the commit; FrameworkError
   * `E_DB_TRANSACTION_FAILED` if a statement failed and `fn` continued, where the engine does not allow that
   */
  transaction<T>(fn: (run: TransactionRun) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.transactions.run(fn, options);
  }

  /**
   * Runs `fn` in the transaction of the caller, or in a new one if there is none. There is no savepoint: if `fn` throws and the caller
   * continues, the changes of `fn` stay.
   */
  current<T>(fn: (run: TransactionRun) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.transactions.join(fn, options);
  }

  /**
   * Runs `work` once after the commit of the outermost transaction, in the order of the calls. Outside of a transaction it runs at once. If
   * the transaction, or the nested one of the caller, rolls back, `work` is dropped. A failure of `work` is logged and has no other effect.
   */
  afterCommit(work: () => unknown): void {
    this.transactions.afterCommit(work);
  }

  /**
   * For a write outside of the transaction of the running code. With one writer, as on SQLite, the write would wait for the
   * transaction, which waits for the write.
   *
   * @throws FrameworkError `E_DB_SECOND_CONNECTION` @internal
   */
  refuseSecondWrite(): void {
    if (this.driver.dialect.hasOneWriter) this.transactions.refuseSecondConnection();
  }

  /** True if the innermost transaction of the running code is one of this database. @internal */
  ownsTransaction(): boolean {
    return this.transactions.isInnermost();
  }

  /**
   * A query that is compiled once and runs with other values each time: for frequent queries. `build` gets a placeholder for each of its
   * parameters and may only bind it.
   *
   * @example
   * class ShopDatabase extends Database<Tables> {
   *   readonly linkBySlug = this.prepared((slug: string) => this.query.selectFrom("links").selectAll().where("slug", "=", slug));
   * }
   * const link = await db.linkBySlug.first("docs");
   *
   * @throws FrameworkError `E_DB_PREPARED` if `build` does more with a parameter than bind it
   */
  prepared<Values extends readonly unknown[], Row>(
    build: (...values: Values) => Compilable<Row>,
  ): PreparedQuery<Values, Row> {
    // Plugins change the result, and only Kysely runs them.
    const hasPlugins = (this.options.plugins ?? []).length > 0;
    return createPreparedQuery(build, (compiled) =>
      hasPlugins
        ? <R>(parameters: readonly unknown[], read: (result: QueryResult<Row>) => R) =>
            this.query.executeQuery<Row>({ ...compiled, parameters }).then<R>(read)
        : createPreparedRun(compiled, this.createSink()),
    );
  }

  /**
   * Runs one statement of SQL, with placeholders in the form of the engine, and returns its rows: for a seed or a script. In code, prefer
   * `query`, and `sql` of Kysely, which write the placeholders.
   */
  async run(text: string, binds: readonly unknown[] = []): Promise<DriverResult["rows"]> {
    return this.execute(toRawStatement(text, binds), ({ rows }) => rows);
  }

  /** Outside of an application, as in a script, `prepare` is not called. @internal */
  getStatements(): Statements {
    return this.statements ?? this.useHost(createStandaloneHost(this.name));
  }

  /** Until the next call, all statements go to this driver, which is started already. @internal */
  replaceDriver(driver: DatabaseDriver): void {
    const { host } = this.getStatements();
    this.statements = new Statements(driver, host, this.options.slowQueryMs ?? driver.slowQueryMs);
  }

  private createSink(): StatementSink {
    return { execute: (statement, read) => this.execute(statement, read) };
  }

  private execute<R>(statement: BuiltStatement, read: (result: DriverResult) => R): MaybePromise<R> {
    const statements = this.getStatements();
    const level = this.transactions.findLevel();
    return statements.follow(
      statement,
      level === undefined
        ? new LoneQuery(statements, statement, read)
        : { start: () => level.query(statement), ended: read, failed: unchanged },
    );
  }

  private useHost(host: SubsystemHost): Statements {
    this.driver.prepare(host);
    const slowQueryMs = this.options.slowQueryMs ?? this.driver.slowQueryMs;
    return (this.statements = new Statements(this.driver, host, slowQueryMs));
  }
}

function missingDriverError(name: string): FrameworkError {
  return createSetupError(
    "E_DB_DRIVER",
    `${name} has no driver: new ${name}(sqlite("shop.db")), with sqlite of @stagecraft/framework/db/sqlite`,
  );
}
