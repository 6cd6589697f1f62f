/** A driver without an engine: it records the calls of the database, and fails where a spec scripts a failure. */
import {
  type ConnectOptions,
  DatabaseDriver,
  type DriverConnection,
  type DriverFailure,
  type DriverResult,
  type DriverStatement,
  type FailureKind,
  postgresDialect,
  type TransactionStatus,
} from "@stagecraft/framework/db";

/** An error of an engine, whose message quotes a value. */
export class EngineError extends Error {
  constructor(readonly kind: FailureKind) {
    super("Duplicate entry 'canary4711secret' for key 'name'");
  }
}

type Step = "begin" | "commit" | "rollback" | "query";

export class ScriptedDriver extends DatabaseDriver {
  readonly address = "scripted";
  readonly hasTransactionalSchema = true;
  readonly calls: string[] = [];
  /** The next call of the step fails with this kind. */
  readonly failures = new Map<Step, EngineError>();
  /** The state after a failed statement. */
  statusAfterFailure: TransactionStatus = "open";

  constructor(readonly dialect = postgresDialect) {
    super();
  }

  override prepare(): void {}
  override async start(): Promise<void> {}
  override async stop(): Promise<void> {}
  override async probe(): Promise<void> {}

  override async connect({ readOnly }: ConnectOptions): Promise<DriverConnection> {
    this.calls.push(readOnly ? "connect to read" : "connect");
    return new ScriptedConnection(this);
  }

  override failure(error: unknown): DriverFailure {
    return { kind: error instanceof EngineError ? error.kind : "other" };
  }

  override async lockMigrations() {
    return { release: async () => {} };
  }
}

class ScriptedConnection implements DriverConnection {
  transactionStatus: TransactionStatus = "none";

  constructor(private readonly driver: ScriptedDriver) {}

  async query({ sql }: DriverStatement): Promise<DriverResult> {
    try {
      this.step("query", sql);
    } catch (error) {
      if (this.transactionStatus !== "none") this.transactionStatus = this.driver.statusAfterFailure;
      throw error;
    }
    if (sql.startsWith("rollback to")) this.transactionStatus = "open";
    return { rows: [] };
  }

  async begin(): Promise<void> {
    this.step("begin");
    this.transactionStatus = "open";
  }

  async commit(): Promise<void> {
    this.step("commit");
    this.transactionStatus = "none";
  }

  async rollback(): Promise<void> {
    this.step("rollback");
    this.transactionStatus = "none";
  }

  release(): void {
    this.driver.calls.push(this.transactionStatus === "none" ? "release" : `release ${this.transactionStatus}`);
  }

  destroy(): void {
    this.driver.calls.push("destroy");
  }

  private step(step: Step, text: string = step): void {
    this.driver.calls.push(text);
    const failure = this.driver.failures.get(step);
    this.driver.failures.delete(step);
    if (failure !== undefined) throw failure;
  }
}
