/**
 * MariaDB and MySQL as the engine of a `Database`; the entry point `@stagecraft/framework/db/mysql`. It needs the package `mysql2`.
 *
 * The server itself ends long statements and long waits for a lock. A statement whose request has ended is cancelled on the server.
 * Changes of the schema commit at once: a migration that fails half-way leaves its first half.
 *
 * @example
 * provide(ShopDatabase).useFactory(() => new ShopDatabase(mysql("mysql://shop:secret@db.internal/shop")));
 */
import { mysqlDialect } from "../../dialect.js";
import type { DatabaseDriver, DriverFailure, MigrationLock } from "../../driver.js";
import { type ConnectionUse, ServerDriver } from "../server-driver.js";
import type { ServerTimeouts } from "../server-settings.js";
import type { ServerUrl } from "../server-url.js";
import { KillRequests } from "./kill-request.js";
import { MysqlClient } from "./mysql-client.js";
import { MysqlConnection, type MysqlReleaser } from "./mysql-connection.js";
import { mysqlFailure } from "./mysql-failure.js";
import { lockMysqlMigrations } from "./mysql-migration-lock.js";
import { type MysqlOptions, type MysqlSettings, toMysqlSettings } from "./mysql-options.js";

/** Opens no connection. @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function mysql(options: string | MysqlOptions): DatabaseDriver {
  return new MysqlDriver(toMysqlSettings(options));
}

class MysqlDriver extends ServerDriver<MysqlSettings, MysqlClient, MysqlConnection> {
  readonly dialect = mysqlDialect;
  readonly hasTransactionalSchema = false;
  private readonly kills = {
    application: new KillRequests((signal) => this.open("application", signal)),
    migration: new KillRequests((signal) => this.open("migration", signal)),
  };

  override failure(error: unknown): DriverFailure {
    return mysqlFailure(error);
  }

  override async lockMigrations(waitMs: number): Promise<MigrationLock> {
    const client = await this.openAlone("migration");
    return lockMysqlMigrations(client, this.settings.migrationServer.database, waitMs);
  }

  protected override openClient(
    server: ServerUrl,
    timeouts: ServerTimeouts,
    signal: AbortSignal,
  ): Promise<MysqlClient> {
    return MysqlClient.open(this.settings, server, timeouts, this.host.clock, signal);
  }

  protected override newConnection(use: ConnectionUse, client: MysqlClient, releaser: MysqlReleaser): MysqlConnection {
    const { host } = this;
    return new MysqlConnection({ client, releaser, kills: this.kills[use], clock: host.clock, database: host.name });
  }
}
