/** A database with the tables of identities, for specs. */
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { authMigrations } from "@stagecraft/framework/auth/db";
import { sessionMigrations } from "@stagecraft/framework/session/db";
import { openDriver, type OrderEngine, type StartedEngine } from "../idempotency/db/order-database.js";
import { needs } from "../support/machine.js";

export class AppDatabase extends Database<unknown> implements AsyncDisposable {
  static on(driver: DatabaseDriver = sqlite(":memory:")): AppDatabase {
    return new AppDatabase(driver, { migrations: [authMigrations, sessionMigrations], migrate: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Opens a database of the engine before the specs of a block, and closes it after them. */
export function openBefore({ program, start }: OrderEngine, use: (db: AppDatabase, url: string) => void): void {
  let server: StartedEngine | undefined;
  let db: AppDatabase | undefined;

  if (program !== undefined) before(needs(program));
  before(async () => {
    server = await start();
    db = AppDatabase.on(openDriver(server.url));
    await db.start();
    use(db, server.url);
  });
  after(async () => {
    await db?.stop();
    await server?.[Symbol.asyncDispose]();
  });
}
