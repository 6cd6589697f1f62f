/**
 * A driver as an application writes it, to copy from: it imports the public API and the package of its engine, and nothing else of the
 * framework. Its engine is SQLite, over one connection that the callers use one after the other.
 */
import { DatabaseSync } from "@photostructure/sqlite";
import { type Clock, type SubsystemHost, SystemClock } from "@stagecraft/framework";
import {
  type BeginOptions,
  ConnectionPool,
  type ConnectOptions,
  type DatabaseDialect,
  DatabaseDriver,
  type DriverConnection,
  DriverError,
  type DriverFailure,
  type DriverResult,
  type DriverStatement,
  type FailureKind,
  JsonBind,
  type MaybePromise,
  type MigrationLock,
  type PoolMember,
  type PoolOptions,
  refuseBind,
  sqliteDialect,
  toPoolLimits,
  type TransactionStatus,
} from "@stagecraft/framework/db";

const STOP_GRACE_MS = 2_000;
const LOCK_PAUSE_MS = 20;

/** A driver for the file. */
export function toy(file: string, pool?: Omit<PoolOptions, "max">): DatabaseDriver {
  return new ToyDriver(file, pool);
}

class ToyDriver extends DatabaseDriver {
  /** The SQL is that of SQLite. */
  readonly dialect: DatabaseDialect = { ...sqliteDialect, name: "toy" };
  readonly hasTransactionalSchema = true;
  private clock: Clock = new SystemClock();
  private pool: ConnectionPool<ToyConnection> | undefined;

  constructor(
    readonly address: string,
    private readonly options: PoolOptions | undefined,
  ) {
    super();
  }

  override prepare(host: SubsystemHost): void {
    this.clock = host.clock;
    const limits = toPoolLimits({ ...this.options, max: 1 }, "pool of toy");
    const pool: ConnectionPool<ToyConnection> = new ConnectionPool(
      limits,
      host,
      this.address,
      async () => new ToyConnection(this.address, pool),
    );
    this.pool = pool;
  }

  override start(): Promise<void> {
    return this.probe(AbortSignal.timeout(5_000));
  }

  override async stop(): Promise<void> {
    await this.pool?.stop(STOP_GRACE_MS);
  }

  override async probe(signal: AbortSignal): Promise<void> {
    const connection = await this.connect({ readOnly: true, signal });
    try {
      connection.query({ sql: "select count(*) from sqlite_schema", parameters: [], isRead: true });
    } finally {
      connection.release();
    }
  }

  override connect(options: ConnectOptions): MaybePromise<ToyConnection> {
    if (this.pool === undefined) throw new DriverError({ kind: "connection", text: "the driver is not prepared" });
    return this.pool.takeNow() ?? this.pool.take(options);
  }

  /** The message of the engine may quote a value, so only its beginning is used. */
  override failure(error: unknown): DriverFailure {
    if (error instanceof DriverError) return error.failure;
    const message = error instanceof Error ? error.message : "";
    const [text, kind = "other"] = KINDS.find(([beginning]) => message.startsWith(beginning)) ?? [];
    return { kind, text };
  }

  /** An open transaction on a second file. The engine rolls it back at the latest when the process ends. */
  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    const lock = new DatabaseSync(`${this.address}-lock`);
    const until = this.clock.monotonic() + waitMs;
    try {
      while (!this.tryLock(lock)) {
        const left = until - this.clock.monotonic();
        if (left <= 0)
          throw new DriverError({ kind: "busy", text: "another process holds the lock of the migrations" });
        await new Promise<void>((resolve) => this.clock.setTimeout(resolve, Math.min(LOCK_PAUSE_MS, left)));
      }
    } catch (error) {
      lock.close();
      throw error;
    }
    return { release: async () => lock.close() };
  }

  private tryLock(lock: InstanceType<typeof DatabaseSync>): boolean {
    try {
      lock.exec("begin immediate");
      return true;
    } catch (error) {
      if (this.failure(error).kind === "busy") return false;
      throw error;
    }
  }
}

class ToyConnection implements DriverConnection, PoolMember {
  lastStatement: string | undefined = undefined;
  private readonly db: InstanceType<typeof DatabaseSync>;

  constructor(
    file: string,
    private readonly pool: ConnectionPool<ToyConnection>,
  ) {
    this.db = new DatabaseSync(file);
    this.db.exec("pragma foreign_keys = on");
  }

  get transactionStatus(): TransactionStatus {
    return this.db.isTransaction ? "open" : "none";
  }

  get isReusable(): boolean {
    return !this.db.isTransaction;
  }

  /** The engine cannot cancel a statement, so the signal is read before it. */
  query({ sql, parameters, signal }: DriverStatement): DriverResult {
    signal?.throwIfAborted();
    this.lastStatement = sql;
    const statement = this.db.prepare(sql);
    const binds = parameters.map(toBind);
    // The engine makes an object of each row.
    if (statement.columns().length > 0) return { rows: statement.all(...binds) as DriverResult["rows"] };
    const { changes, lastInsertRowid } = statement.run(...binds);
    return { rows: [], affected: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async begin({ readOnly }: BeginOptions): Promise<void> {
    this.db.exec(readOnly ? "begin" : "begin immediate");
    this.db.exec(`pragma query_only = ${readOnly ? 1 : 0}`);
  }

  async commit(): Promise<void> {
    this.db.exec("commit");
    this.db.exec("pragma query_only = 0");
  }

  async rollback(): Promise<void> {
    if (this.db.isTransaction) this.db.exec("rollback");
    this.db.exec("pragma query_only = 0");
  }

  release(): void {
    this.pool.release(this);
  }

  destroy(): void {
    this.pool.discard(this);
  }

  close(): void {
    this.db.close();
  }
}

const KINDS: readonly (readonly [beginning: string, kind: FailureKind])[] = [
  ["UNIQUE constraint failed", "unique"],
  ["FOREIGN KEY constraint failed", "foreignKey"],
  ["NOT NULL constraint failed", "notNull"],
  ["CHECK constraint failed", "check"],
  ["attempt to write a readonly database", "readOnly"],
  ["database is locked", "busy"],
  ["unable to open database file", "connection"],
];

function toBind(value: unknown, index: number): string | number | bigint | Uint8Array | null {
  if (value instanceof JsonBind) return value.text;
  // The engine would cut the text off there.
  if (typeof value === "string" && value.includes("\0")) throw new DriverError({ kind: "text" });
  if (typeof value === "string" || typeof value === "bigint" || value === null) return value;
  if ((typeof value === "number" && !Number.isNaN(value)) || value instanceof Uint8Array) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return refuseBind(value, index);
}
