/**
 * The hashes of recovery codes in the table `framework_recovery_codes` of the application's database. A code is spent by one statement, and a
 * transaction that rolls back does not make it valid again.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { RecoveryCodes } from "../second-step/recovery-codes.js";
import { runOutside } from "./statements.js";

interface CodeTables {
  readonly framework_recovery_codes: { readonly hash: string; readonly user_id: string };
}

const TABLE = "framework_recovery_codes";

export class DatabaseRecoveryCodes<Tables = unknown> extends RecoveryCodes {
  private readonly query: Kysely<CodeTables>;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<CodeTables>;
  }

  override async replace(userId: string, hashes: readonly string[]): Promise<void> {
    const rows = hashes.map((hash) => ({ hash, user_id: userId }));
    await this.db.transaction(async () => {
      await this.query.deleteFrom(TABLE).where("user_id", "=", userId).execute();
      if (rows.length > 0) await this.query.insertInto(TABLE).values(rows).execute();
    });
  }

  override async spend(userId: string, hash: string): Promise<boolean> {
    const spent = this.query.deleteFrom(TABLE).where("hash", "=", hash).where("user_id", "=", userId);
    return (await runOutside(this.db, () => spent.executeTakeFirst())).numDeletedRows === 1n;
  }

  override async count(userId: string): Promise<number> {
    const rows = this.query.selectFrom(TABLE).where("user_id", "=", userId);
    const { count } = await rows.select(({ fn }) => fn.countAll().as("count")).executeTakeFirstOrThrow();
    return Number(count);
  }
}
