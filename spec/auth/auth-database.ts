/** A database with the tables of identities, for specs. */
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { authMigrations } from "@stagecraft/framework/auth/db";
import { sessionMigrations } from "@stagecraft/framework/session/db";

export class AppDatabase extends Database<unknown> implements AsyncDisposable {
  static on(driver: DatabaseDriver = sqlite(":memory:")): AppDatabase {
    return new AppDatabase(driver, { migrations: [authMigrations, sessionMigrations], migrate: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
