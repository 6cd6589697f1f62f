/**
 * PostgreSQL as the engine of a `Database`; the entry point `@stagecraft/framework/db/postgres`. It needs the package `pg`, 8.23.1 or newer.
 *
 * The server ends long statements, long waits for a lock and forgotten transactions itself. A statement whose request has ended is
 * cancelled on the server. A statement that is repeated is prepared. Where more reads of one request wait than there are connections,
 * several of them go over one connection without waiting for each other's answers.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(postgres("postgres://shop:secret@db.internal/shop")));
 */
import type { AtOnce } from "../db/at-once.js";
import { type ConnectOptions, DatabaseDriver, type DriverFailure, type MigrationLock } from "../db/driver.js";
import { ConnectionPool } from "../db/pool.js";
import type { ServerUrl } from "../db/server-url.js";
import type { SubsystemHost } from "../lifecycle/operations.js";
import type { Clock } from "../runtime/clock.js";
import { DriverError } from "../db/driver-error.js";
import { standaloneHost } from "../db/standalone-host.js";
import { CancelRequests } from "./cancel-request.js";
import { PostgresListener } from "./listener.js";
import { lockMigrations } from "./migration-lock.js";
import { PostgresClient } from "./postgres-client.js";
import { type PostgresOwner, PostgresConnection } from "./postgres-connection.js";
import { postgresFailure } from "./postgres-failure.js";
import { addressOf, type PostgresOptions, type PostgresSettings, postgresSettings } from "./postgres-options.js";
import { StatementNames } from "./statement-names.js";

/** How long users of connections may go on when the application stops. */
const STOP_GRACE_MS = 2000;
/** If a connection was used without a failure within this time, the server works. */
const PROBE_TRUST_MS = 1000;

/** Opens nothing. @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function postgres(options: string | PostgresOptions): DatabaseDriver {
  return new PostgresDriver(postgresSettings(options));
}

class PostgresDriver extends DatabaseDriver {
  readonly dialect = "postgres";
  readonly address: string;
  readonly hasTransactionalSchema = true;
  private host: SubsystemHost = standaloneHost("database");
  private pool: ConnectionPool<PostgresConnection>;
  private lastUse = Number.NEGATIVE_INFINITY;

  constructor(private readonly settings: PostgresSettings) {
    super();
    this.address = addressOf(settings.server);
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

  override connect(options: ConnectOptions): AtOnce<PostgresConnection> {
    if (options.isMigration === true) return this.connectForMigration(options.signal);
    return this.pool.takeNow() ?? this.pool.take(options, this.settings.isPooled ? undefined : options.batch);
  }

  override failure(error: unknown): DriverFailure {
    return postgresFailure(error);
  }

  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    return lockMigrations(await this.openForMigration(undefined), waitMs);
  }

  /** A pooler that changes the connection does not pass notifications on, so `heard` would never be called. */
  override listen(channel: string, heard: () => void): () => void {
    const { settings, host } = this;
    if (settings.isPooled) return () => {};
    const { server, timeouts, pool } = settings;
    const open = (limit: AbortSignal) => PostgresClient.open(settings, server, timeouts, host.clock, limit);
    const listener = new PostgresListener({
      open: () => withLimit(host.clock, pool.connectMs, server, undefined, open),
      channel,
      heard,
      clock: host.clock,
    });
    return () => listener.end();
  }

  private newPool(): ConnectionPool<PostgresConnection> {
    const { settings, host } = this;
    const { server, tls, timeouts, isPooled } = settings;
    const cancels = new CancelRequests({ ...server, tls });
    const pool = new ConnectionPool<PostgresConnection>(settings.pool, host, this.address, async (signal) => {
      const client = await PostgresClient.open(settings, server, timeouts, host.clock, signal);
      const names = isPooled ? undefined : new StatementNames();
      return new PostgresConnection({ client, owner, cancels, clock: host.clock, database: host.name, names });
    });
    const owner: PostgresOwner = {
      giveBack: (connection) => {
        if (connection.isReusable) this.lastUse = host.clock.monotonic();
        pool.giveBack(connection);
      },
      discard: (connection) => pool.discard(connection),
    };
    return pool;
  }

  /** Outside of the pool, which may be full of users that wait for the migration. */
  private async connectForMigration(signal: AbortSignal | undefined): Promise<PostgresConnection> {
    const client = await this.openForMigration(signal);
    const { settings, host } = this;
    const end = (): void => client.close();
    const cancels = new CancelRequests({ ...settings.migrationServer, tls: settings.tls });
    const owner = { giveBack: end, discard: end };
    return new PostgresConnection({ client, owner, cancels, clock: host.clock, database: host.name, names: undefined });
  }

  private openForMigration(signal: AbortSignal | undefined): Promise<PostgresClient> {
    const { settings, host } = this;
    const server = settings.migrationServer;
    const timeouts = { statement: 0, lock: settings.timeouts.lock, idleInTransaction: 0 };
    const open = (limit: AbortSignal) => PostgresClient.open(settings, server, timeouts, host.clock, limit);
    return withLimit(host.clock, settings.pool.connectMs, server, signal, open);
  }
}

async function withLimit<T>(
  clock: Clock,
  limitMs: number,
  server: ServerUrl,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const text = `no connection to ${addressOf(server)} within ${limitMs} ms`;
  const tooSlow = (): void => limit.abort(new DriverError({ kind: "connection", code: "CONNECT_TIMEOUT", text }));
  const timer = clock.setTimeout(tooSlow, limitMs);
  try {
    return await open(signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]));
  } finally {
    timer.cancel();
  }
}
