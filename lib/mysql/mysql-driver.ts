/**
 * MariaDB and MySQL as the engine of a `Database`; the entry point `@stagecraft/framework/db/mysql`. It needs the package `mysql2`.
 *
 * The server ends long statements and long waits for a lock itself. A statement whose request has ended is cancelled on the server.
 * Changes of the schema commit at once: a migration that fails half-way leaves its first half.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(mysql("mysql://shop:secret@db.internal/shop")));
 */
import { DriverError } from "../db/driver-error.js";
import type { AtOnce } from "../db/at-once.js";
import { type ConnectOptions, DatabaseDriver, type DriverFailure, type MigrationLock } from "../db/driver.js";
import { ConnectionPool } from "../db/pool.js";
import { standaloneHost } from "../db/standalone-host.js";
import type { SubsystemHost } from "../lifecycle/operations.js";
import { KillRequests } from "./kill-request.js";
import { MysqlClient } from "./mysql-client.js";
import { MysqlConnection, type MysqlOwner } from "./mysql-connection.js";
import { mysqlFailure } from "./mysql-failure.js";
import { lockMysqlMigrations } from "./mysql-migration-lock.js";
import { mysqlAddress, type MysqlOptions, type MysqlSettings, mysqlSettings } from "./mysql-options.js";

/** How long users of connections may go on when the application stops. */
const STOP_GRACE_MS = 2000;
/** If a connection was used without a failure within this time, the server works. */
const PROBE_TRUST_MS = 1000;

/** Opens nothing. @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function mysql(options: string | MysqlOptions): DatabaseDriver {
  return new MysqlDriver(mysqlSettings(options));
}

class MysqlDriver extends DatabaseDriver {
  readonly dialect = "mysql";
  readonly address: string;
  readonly hasTransactionalSchema = false;
  private host: SubsystemHost = standaloneHost("database");
  private pool: ConnectionPool<MysqlConnection>;
  private lastUse = Number.NEGATIVE_INFINITY;

  constructor(private readonly settings: MysqlSettings) {
    super();
    this.address = mysqlAddress(settings.server);
    this.pool = this.newPool();
  }

  override prepare(host: SubsystemHost): void {
    this.host = host;
    this.pool = this.newPool();
  }

  override async start(): Promise<void> {
    (await this.pool.take()).release();
  }

  override stop(): Promise<void> {
    return this.pool.stop(STOP_GRACE_MS);
  }

  /** If all connections of the pool are in use, the server is not at fault. */
  override async probe(signal: AbortSignal): Promise<void> {
    if (this.host.clock.monotonic() - this.lastUse < PROBE_TRUST_MS) return;
    const connection = await this.pool.take({ signal });
    try {
      await connection.query({ sql: "select 1", parameters: [], isRead: true, signal });
    } finally {
      connection.release();
    }
  }

  override connect(options: ConnectOptions): AtOnce<MysqlConnection> {
    if (options.isMigration === true) return this.connectForMigration(options.signal);
    return this.pool.takeNow() ?? this.pool.take(options);
  }

  override failure(error: unknown): DriverFailure {
    return mysqlFailure(error);
  }

  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    const client = await this.openForMigration(undefined);
    return lockMysqlMigrations(client, this.settings.migrationServer.database, waitMs);
  }

  private newPool(): ConnectionPool<MysqlConnection> {
    const { settings, host } = this;
    const { server, timeouts, pool: limits } = settings;
    const open = (signal: AbortSignal) => MysqlClient.open(settings, server, timeouts, host.clock, signal);
    const kills = new KillRequests(open);
    const pool = new ConnectionPool<MysqlConnection>(limits, host, this.address, async (signal) => {
      const client = await open(signal);
      return new MysqlConnection({ client, owner, kills, clock: host.clock, database: host.name });
    });
    const owner: MysqlOwner = {
      giveBack: (connection) => {
        if (connection.isReusable) this.lastUse = host.clock.monotonic();
        pool.giveBack(connection);
      },
      discard: (connection) => pool.discard(connection),
    };
    return pool;
  }

  /** Outside of the pool, which may be full of users that wait for the migration. */
  private async connectForMigration(signal: AbortSignal | undefined): Promise<MysqlConnection> {
    const client = await this.openForMigration(signal);
    const { host } = this;
    const end = (): void => client.close();
    const kills = new KillRequests((limit) => this.openMigrationClient(limit));
    const owner = { giveBack: end, discard: end };
    return new MysqlConnection({ client, owner, kills, clock: host.clock, database: host.name });
  }

  private async openForMigration(signal: AbortSignal | undefined): Promise<MysqlClient> {
    const { connectMs } = this.settings.pool;
    const limit = new AbortController();
    const text = `no connection to ${mysqlAddress(this.settings.migrationServer)} within ${connectMs} ms`;
    const tooSlow = (): void => limit.abort(new DriverError({ kind: "connection", code: "CONNECT_TIMEOUT", text }));
    const timer = this.host.clock.setTimeout(tooSlow, connectMs);
    try {
      return await this.openMigrationClient(
        signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]),
      );
    } finally {
      timer.cancel();
    }
  }

  private openMigrationClient(signal: AbortSignal): Promise<MysqlClient> {
    const { settings, host } = this;
    const timeouts = { ...settings.timeouts, statement: 0, idleInTransaction: 0 };
    return MysqlClient.open(settings, settings.migrationServer, timeouts, host.clock, signal);
  }
}
