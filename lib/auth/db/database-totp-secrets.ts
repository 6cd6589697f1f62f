/**
 * The secrets of authenticator apps in the table `framework_totp_secrets` of the application's database. A code is used by one statement, and
 * a transaction that rolls back does not make it valid again.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { type TotpSecret, TotpSecrets, type TotpUse } from "../second-step/totp-secrets.js";
import { runOutside, writeUnique } from "./statements.js";

interface SecretRow {
  readonly user_id: string;
  readonly secret: string;
  /** Integers, in the types that drivers give them by their options. */
  readonly last_step: number | bigint | string;
  readonly created_at: number | bigint | string;
}

interface SecretTables {
  readonly framework_totp_secrets: SecretRow;
}

const TABLE = "framework_totp_secrets";

export class DatabaseTotpSecrets<Tables = unknown> extends TotpSecrets {
  private readonly query: Kysely<SecretTables>;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<SecretTables>;
  }

  override async find(userId: string): Promise<TotpSecret | undefined> {
    const row = await this.query.selectFrom(TABLE).selectAll().where("user_id", "=", userId).executeTakeFirst();
    return row && toSecret(row);
  }

  override insert({ userId, secret, lastStep, createdAt }: TotpSecret): Promise<boolean> {
    const row = { user_id: userId, secret, last_step: lastStep, created_at: createdAt };
    return writeUnique(this.db, () => this.query.insertInto(TABLE).values(row).execute());
  }

  override async use(found: TotpSecret, { step, secret }: TotpUse): Promise<boolean> {
    const update = this.query
      .updateTable(TABLE)
      .set({ last_step: step, secret })
      .where("user_id", "=", found.userId)
      .where("secret", "=", found.secret)
      .where("last_step", "<", step);
    return (await runOutside(this.db, () => update.executeTakeFirst())).numUpdatedRows === 1n;
  }

  override async delete(userId: string): Promise<boolean> {
    const { numDeletedRows } = await this.query.deleteFrom(TABLE).where("user_id", "=", userId).executeTakeFirst();
    return numDeletedRows === 1n;
  }
}

function toSecret(row: SecretRow): TotpSecret {
  const { user_id: userId, secret } = row;
  return { userId, secret, lastStep: Number(row.last_step), createdAt: Number(row.created_at) };
}
