/**
 * The driver for SQLite; the entry point `@stagecraft/framework/db/sqlite`. From Node 22.16 on it needs no package, and on older versions
 * it needs `@photostructure/sqlite`.
 *
 * The file is in WAL mode: one connection writes, others read at the same time. A transaction takes the write lock at its start, unless it
 * is read-only. A wait is bounded by `waitMs`, and never blocks the process. A query blocks it: it runs in the thread of the application.
 *
 * Not for a file on a network file system, and not for long queries beside a busy service.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("data/shop.db")));
 * new ShopDatabase(sqlite(":memory:")); // for tests
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { sqliteDialect } from "../../dialect.js";
import type { MaybePromise } from "../../maybe-promise.js";
import {
  type ConnectOptions,
  DatabaseDriver,
  type DriverConnection,
  type DriverFailure,
  type MigrationLock,
} from "../../driver.js";
import { type PoolFigures, PoolReport } from "../../pool/pool-report.js";
import type { FrameworkError } from "../../../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../../../errors/option-names.js";
import { createSetupError } from "../../../errors/setup-error.js";
import { valueText } from "../../../errors/value-text.js";
import type { SubsystemHost } from "../../../lifecycle/operations.js";
import type { PerProcess, ProcessState } from "../../../lifecycle/process-state.js";
import { type Clock, MAX_TIMER_MS, sleep, SystemClock } from "../../../runtime/clock.js";
import { HandlePool, noHandleError } from "./handle-pool.js";
import { retryWhileLocked } from "./lock-wait.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { sqliteFailure } from "./sqlite-failure.js";
import { SqliteFile, type SqliteSettings } from "./sqlite-file.js";
import { lockSqliteMigrations } from "./sqlite-migration-lock.js";

export interface SqliteOptions {
  /** The number of connections that read at the same time: 4 unless set. */
  readonly readers?: number;
  /** Milliseconds that a caller waits for a connection, and then for a lock of another process: 5000 unless set. */
  readonly waitMs?: number;
  /** The maximum number of callers that wait for a connection: 1000 unless set. */
  readonly maxWaiting?: number;
  /**
   * `normal` unless set: after a loss of power the last transactions may be missing, and the file is consistent. `full` waits for the disk
   * at each commit.
   */
  readonly synchronous?: "normal" | "full";
  /** The type of an integer of a row: `number` unless set, where an integer above 2^53 is an error. */
  readonly integers?: "number" | "bigint";
}

const OPTIONS: OptionNames<SqliteOptions> = {
  readers: true,
  waitMs: true,
  maxWaiting: true,
  synchronous: true,
  integers: true,
};

const IN_MEMORY = ":memory:";
const STATE_IN_MEMORY: ProcessState = { what: "the database is in memory", fix: "name a file: sqlite(file)" };
const NO_LOCK: MigrationLock = { release: async () => {} };
const STOP_PAUSE_MS = 10;
const STOP_GRACE_MS = 2_000;

/** @param file a path, whose folder is created if it is missing, or `:memory:`. @throws FrameworkError `E_OPTION`, `E_DB_SETTING` */
export function sqlite(file: string, options: SqliteOptions = {}): DatabaseDriver {
  checkOptionNames(options, OPTIONS, "sqlite");
  if (typeof file !== "string" || file === "") throw settingError("the file", file, "a path or :memory:");
  return new SqliteDriver(file, {
    readers: checkWhole("readers", options.readers ?? 4, 64),
    waitMs: checkWhole("waitMs", options.waitMs ?? 5_000, MAX_TIMER_MS),
    maxWaiting: checkWhole("maxWaiting", options.maxWaiting ?? 1_000, 1_000_000),
    synchronous: checkChoice("synchronous", options.synchronous ?? "normal", ["normal", "full"]),
    integers: checkChoice("integers", options.integers ?? "number", ["number", "bigint"]),
  });
}

class SqliteDriver extends DatabaseDriver implements PerProcess {
  readonly dialect = sqliteDialect;
  readonly address: string;
  readonly perProcess: ProcessState | undefined;
  readonly hasTransactionalSchema = true;
  override readonly slowQueryMs = 50;
  private readonly settings: SqliteSettings;
  private clock: Clock = new SystemClock();
  private report: PoolReport | undefined = undefined;
  private pools:
    { readonly writer: HandlePool<SqliteConnection>; readonly readers: HandlePool<SqliteConnection> } | undefined;

  constructor(
    file: string,
    private readonly options: Required<SqliteOptions>,
  ) {
    super();
    this.address = file === IN_MEMORY ? file : resolve(file);
    this.perProcess = file === IN_MEMORY ? STATE_IN_MEMORY : undefined;
    this.settings = {
      file: this.address,
      pragmas: ["foreign_keys = on", `synchronous = ${options.synchronous}`],
      hasBigInts: options.integers === "bigint",
      schemaVersion: 0,
    };
  }

  override prepare(host: SubsystemHost): void {
    this.clock = host.clock;
    this.report = new PoolReport(host, () => this.figures());
  }

  /** Any other failure than a missing file is one of `start`. */
  override async isAbsent(): Promise<boolean> {
    if (this.address === IN_MEMORY) return false;
    return stat(this.address).then(
      () => false,
      (error: unknown) => Object(error).code === "ENOENT",
    );
  }

  override async start(): Promise<void> {
    const { options, address } = this;
    if (this.pools !== undefined) return;
    if (address === IN_MEMORY) {
      const only = this.pool(1, () => this.openFirst());
      this.pools = { writer: only, readers: only };
    } else {
      await mkdir(dirname(address), { recursive: true });
      this.pools = {
        writer: this.pool(1, () => this.openFirst()),
        readers: this.pool(options.readers, () => new SqliteFile(this.settings, true)),
      };
    }
    const { writer } = this.pools;
    const first = await retryWhileLocked(this.clock, options.waitMs, () => writer.takeNow());
    first?.release();
  }

  override async stop(): Promise<void> {
    const { pools, clock } = this;
    if (pools === undefined) return;
    const until = clock.monotonic() + STOP_GRACE_MS;
    const isInUse = (): boolean => pools.writer.taken + pools.readers.taken > 0;
    while (isInUse() && clock.monotonic() < until) await sleep(clock, STOP_PAUSE_MS);
    // The readers close first, because the writer moves the log into the file.
    pools.readers.close();
    pools.writer.close();
    this.pools = undefined;
    this.report?.setGauges();
  }

  override async probe(signal: AbortSignal): Promise<void> {
    const connection = await this.connect({ readOnly: true, signal });
    try {
      await connection.query({ sql: "select count(*) from sqlite_schema", parameters: [], isRead: true, signal });
    } finally {
      connection.release();
    }
  }

  override connect(options: ConnectOptions): MaybePromise<DriverConnection> {
    if (this.pools === undefined) {
      if (options.isMigration !== true) throw noHandleError("the database is not started");
      // As with a server, a script may migrate a database that it has not started.
      return this.start().then(() => this.connect(options));
    }
    return (options.readOnly ? this.pools.readers : this.pools.writer).take(options);
  }

  override failure(error: unknown): DriverFailure {
    // The folder could not be created.
    if (error instanceof Error && "syscall" in error) return { kind: "connection", text: error.message };
    return this.withFile(sqliteFailure(error));
  }

  /** A database in memory belongs to this process, and a file that cannot be written takes no migration. */
  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    if (this.address === IN_MEMORY) return NO_LOCK;
    try {
      return await lockSqliteMigrations(this.address, this.clock, waitMs);
    } catch (error) {
      if (sqliteFailure(error).kind !== "busy" && (await this.isReadOnly())) return NO_LOCK;
      throw error;
    }
  }

  private pool(size: number, open: () => SqliteFile): HandlePool<SqliteConnection> {
    const { clock, options } = this;
    const { maxWaiting, waitMs } = options;
    const pool: HandlePool<SqliteConnection> = new HandlePool(
      { size, maxWaiting, waitMs },
      clock,
      () => new SqliteConnection(open(), pool, clock, waitMs),
      () => this.report?.changed(),
    );
    return pool;
  }

  /** The sums over the writer and the readers. In memory these are the same pool. */
  private figures(): PoolFigures {
    const pools = new Set(this.pools === undefined ? [] : [this.pools.writer, this.pools.readers]);
    const all = [...pools].map(({ figures }) => figures);
    const sum = (name: keyof PoolFigures): number => all.reduce((total, figures) => total + figures[name], 0);
    return { inUse: sum("inUse"), idle: sum("idle"), waiting: sum("waiting") };
  }

  private openFirst(): SqliteFile {
    const file = new SqliteFile(this.settings, false);
    try {
      if (this.address !== IN_MEMORY) file.exec("pragma journal_mode = wal");
      // The open does not read the file: only this statement fails for a file that is not a database.
      file.run({ sql: "select count(*) from sqlite_schema", parameters: [] });
    } catch (error) {
      file.close();
      throw error;
    }
    return file;
  }

  private async isReadOnly(): Promise<boolean> {
    const connection = await this.connect({ readOnly: false });
    try {
      await connection.begin({ readOnly: false });
      return false;
    } catch (error) {
      return this.failure(error).kind === "readOnly";
    } finally {
      connection.release();
    }
  }

  private withFile(failure: DriverFailure): DriverFailure {
    if (failure.kind !== "connection") return failure;
    return { ...failure, text: `${failure.text ?? "the file failed"}: ${this.address}` };
  }
}

function checkWhole(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw settingError(name, value, `a whole number from 1 to ${max}`);
}

function checkChoice<T extends string>(name: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value;
  throw settingError(name, value, known.join(" or "));
}

function settingError(name: string, value: unknown, known: string): FrameworkError {
  return createSetupError("E_DB_SETTING", `${name} of sqlite(…) cannot be ${valueText(value)}: use ${known}`);
}
