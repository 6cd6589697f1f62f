/**
 * PostgreSQL as the engine of a `Database`; the entry point `@stagecraft/framework/db/postgres`. It needs the package `pg`, from
 * 8.23.1 to below 8.24.
 *
 * The server itself ends long statements, long waits for a lock and idle transactions. A statement whose request has ended is cancelled on
 * the server. A repeated statement is prepared. Where more reads of one request wait than there are connections, several of them are
 * pipelined on one connection.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(postgres("postgres://shop:secret@db.internal/shop")));
 */
import { postgresDialect } from "../../dialect.js";
import type { DatabaseDriver, DriverFailure, MigrationLock } from "../../driver.js";
import { type ConnectionUse, ServerDriver } from "../server-driver.js";
import type { ServerTimeouts } from "../server-settings.js";
import type { ServerUrl } from "../server-url.js";
import { CancelRequests } from "./cancel-request.js";
import { ParameterTypes } from "./parameter-types.js";
import { PostgresListener } from "./postgres-listener.js";
import { lockPostgresMigrations } from "./postgres-migration-lock.js";
import { PostgresClient } from "./postgres-client.js";
import { type PostgresReleaser, PostgresConnection } from "./postgres-connection.js";
import { postgresFailure } from "./postgres-failure.js";
import { type PostgresOptions, type PostgresSettings, toPostgresSettings } from "./postgres-options.js";
import { StatementNames } from "./statement-names.js";

/** Opens no connection. @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function postgres(options: string | PostgresOptions): DatabaseDriver {
  return new PostgresDriver(toPostgresSettings(options));
}

class PostgresDriver extends ServerDriver<PostgresSettings, PostgresClient, PostgresConnection> {
  readonly dialect = postgresDialect;
  readonly hasTransactionalSchema = true;
  protected override readonly canBatch: boolean;
  private readonly types = new ParameterTypes();
  private readonly cancels: Readonly<Record<ConnectionUse, CancelRequests>>;

  constructor(settings: PostgresSettings) {
    super(settings);
    const { server, migrationServer, tls } = settings;
    this.canBatch = !settings.isPooled;
    this.cancels = {
      application: new CancelRequests({ ...server, tls }),
      migration: new CancelRequests({ ...migrationServer, tls }),
    };
  }

  override failure(error: unknown): DriverFailure {
    return postgresFailure(error);
  }

  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    return lockPostgresMigrations(await this.openAlone("migration"), this.host.clock, waitMs);
  }

  /** A pooler that changes the connection does not forward notifications, so `onNotification` would never be called. */
  override listen(channel: string, onNotification: () => void): () => void {
    if (this.settings.isPooled) return () => {};
    const { clock } = this.host;
    const listener = new PostgresListener({
      open: () => this.openAlone("application"),
      channel,
      onNotification,
      clock,
    });
    return () => listener.stop();
  }

  protected override openClient(
    server: ServerUrl,
    timeouts: ServerTimeouts,
    signal: AbortSignal,
  ): Promise<PostgresClient> {
    return PostgresClient.open(this.settings, server, timeouts, this.host.clock, signal);
  }

  protected override newConnection(
    use: ConnectionUse,
    client: PostgresClient,
    releaser: PostgresReleaser,
  ): PostgresConnection {
    const { settings, host } = this;
    // Statements of a migration run once, and behind a pooler the names would be lost.
    const names = use === "migration" || settings.isPooled ? undefined : new StatementNames();
    const cancels = this.cancels[use];
    const { types } = this;
    return new PostgresConnection({ client, releaser, cancels, clock: host.clock, database: host.name, names, types });
  }
}
