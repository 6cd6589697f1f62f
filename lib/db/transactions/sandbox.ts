/**
 * Removes the changes of a test from its database: `rolledBack` runs all statements in one transaction that is never committed, `emptied`
 * deletes all rows. Both leave the schema as it is.
 *
 * `rolledBack` has one connection. Statements run one after the other, each in a savepoint, so that an expected failure does not end the
 * transaction. A transaction of the application is a savepoint too, and its work for after the commit runs. Numbers of sequences are not
 * rolled back, and `now()` of PostgreSQL stands still. For tests with real commits or two connections use `emptied`.
 *
 * @example
 * await using app = await testApp(ShopModule);
 * await using undo = await rolledBack(app.resolve(ShopDatabase));
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { OVERDUE, within } from "../../runtime/clock.js";
import type { Database } from "../database.js";
import { DatabaseDriver, type DriverConnection, type DriverResult, type DriverStatement } from "../driver.js";
import { sql } from "../kysely.js";
import type { Statements } from "../statements.js";
import { Mutex } from "../mutex.js";

/** The grace period for work that still runs at the end of the test. */
const GRACE_MS = 2_000;
const SAVEPOINT = "framework_test";

/**
 * The disposal of the result rolls back all changes since the call. The database must be started, and is not stopped.
 *
 * @throws at the disposal, FrameworkError `E_DB_SANDBOX` if work still runs, or a foreign key references a row that does not exist
 */
export async function rolledBack<Tables>(db: Database<Tables>): Promise<AsyncDisposable> {
  const statements = db.getStatements();
  const connection = await statements.driver.connect({ readOnly: false });
  try {
    await connection.begin({ readOnly: false });
  } catch (error) {
    connection.release();
    throw statements.translateError(error);
  }
  const driver = new SandboxDriver(statements.driver, connection);
  db.replaceDriver(driver);
  return {
    [Symbol.asyncDispose]: async () => {
      db.replaceDriver(statements.driver);
      await driver.undoAll(statements);
    },
  };
}

class SandboxDriver extends DatabaseDriver {
  readonly dialect;
  readonly address;
  readonly hasTransactionalSchema;
  override readonly slowQueryMs;
  readonly mutex = new Mutex();
  /** With placeholders. */
  lastStatement = "none";

  constructor(
    private readonly driver: DatabaseDriver,
    readonly connection: DriverConnection,
  ) {
    super();
    this.dialect = driver.dialect;
    this.address = driver.address;
    this.hasTransactionalSchema = driver.hasTransactionalSchema;
    this.slowQueryMs = driver.slowQueryMs;
  }

  override prepare(): void {}
  override async start(): Promise<void> {}
  override async stop(): Promise<void> {}

  override async probe(): Promise<void> {
    await this.connection.query({ sql: "select 1", parameters: [], isRead: true });
  }

  override async connect(): Promise<DriverConnection> {
    return new SandboxConnection(this, await this.mutex.acquire());
  }

  override failure(error: unknown) {
    return this.driver.failure(error);
  }

  override async lockMigrations() {
    return { release: async () => {} };
  }

  async undoAll({ host }: Statements): Promise<void> {
    const acquired = await within(host.clock, GRACE_MS, this.mutex.acquire());
    if (acquired === OVERDUE) {
      this.connection.destroy(undefined);
      throw sandboxError(
        `work of the test still uses the database: await it before the test ends. Its last statement: ${this.lastStatement}`,
      );
    }
    let broken: string | undefined;
    try {
      broken = await this.findBrokenConstraint();
    } finally {
      await this.connection.rollback();
      this.connection.release();
    }
    if (broken !== undefined) throw sandboxError(broken);
  }

  /** A commit would check the deferred constraints. */
  private async findBrokenConstraint(): Promise<string | undefined> {
    const { checkConstraints } = this.dialect;
    if (checkConstraints === undefined) return undefined;
    try {
      const { rows } = await this.connection.query({ sql: checkConstraints, parameters: [], isRead: true });
      return rows.length === 0
        ? undefined
        : `a foreign key of the table ${String(rows[0]?.["table"])} references a row that does not exist`;
    } catch (error) {
      return `a deferred constraint does not hold: ${this.driver.failure(error).constraint ?? "see the schema"}`;
    }
  }
}

/** The one connection, which one caller uses at a time. */
class SandboxConnection implements DriverConnection {
  private isInTransaction = false;

  constructor(
    private readonly driver: SandboxDriver,
    private readonly onRelease: () => void,
  ) {}

  get transactionStatus() {
    return this.isInTransaction ? this.driver.connection.transactionStatus : "none";
  }

  async query(statement: DriverStatement): Promise<DriverResult> {
    if (this.isInTransaction || (statement.isRead && !this.driver.dialect.failureAbortsTransaction))
      return this.send(statement);
    await this.runStatement(`savepoint ${SAVEPOINT}`);
    let result: DriverResult;
    try {
      result = await this.send(statement);
    } catch (error) {
      // Without the transaction there is no savepoint to roll back.
      if (this.driver.connection.transactionStatus !== "none") await this.undo();
      throw error;
    }
    await this.runStatement(`release savepoint ${SAVEPOINT}`);
    return result;
  }

  async begin(): Promise<void> {
    await this.runStatement(`savepoint ${SAVEPOINT}`);
    this.isInTransaction = true;
  }

  async commit(): Promise<void> {
    this.isInTransaction = false;
    await this.runStatement(`release savepoint ${SAVEPOINT}`);
  }

  async rollback(): Promise<void> {
    this.isInTransaction = false;
    await this.undo();
  }

  release(): void {
    this.onRelease();
  }

  destroy(): void {
    this.onRelease();
  }

  private async undo(): Promise<void> {
    await this.runStatement(`rollback to savepoint ${SAVEPOINT}`);
    await this.runStatement(`release savepoint ${SAVEPOINT}`);
  }

  private async runStatement(text: string): Promise<void> {
    await this.driver.connection.query({ sql: text, parameters: [], isRead: false });
  }

  private async send(statement: DriverStatement): Promise<DriverResult> {
    this.driver.lastStatement = statement.sql;
    const result = await this.driver.connection.query(statement);
    if (this.driver.connection.transactionStatus !== "none") return result;
    throw sandboxError("the statement has committed the transaction of the test, as changes of the schema do on MySQL");
  }
}

/** Deletes all rows of all tables but those of the migrations, and resets the sequences, where the engine can. */
export async function emptied<Tables>(db: Database<Tables>): Promise<void> {
  const { truncate, suspendForeignKeys, resumeForeignKeys } = db.driver.dialect;
  const builder = db.query.withoutPlugins();
  const tables = (await builder.introspection.getTables()).flatMap(({ name, isView }) =>
    isView || name === "framework_migrations" ? [] : [sql.id(name).compile(builder).sql],
  );
  if (tables.length === 0) return;
  if (truncate !== undefined) {
    await db.run(truncate(tables));
    return;
  }
  const run = async (text: string | undefined): Promise<unknown> => (text === undefined ? undefined : db.run(text));
  await db.transaction(async () => {
    await run(suspendForeignKeys);
    // The setting belongs to the connection, which another caller uses next.
    const restore = (): Promise<unknown> => run(resumeForeignKeys);
    try {
      for (const table of tables) await db.run(`delete from ${table}`);
    } catch (error) {
      // The caller gets the first error.
      await restore().catch(() => {});
      throw error;
    }
    await restore();
  });
}

function sandboxError(text: string): FrameworkError {
  return new FrameworkError(text, { code: "E_DB_SANDBOX" });
}
