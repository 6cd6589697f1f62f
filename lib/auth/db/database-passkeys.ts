/** Passkeys in the table `framework_passkeys` of the application's database. */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { type Passkey, PasskeyStore, type PasskeyUsage, type PasskeyUse } from "../passkey-store.js";
import { runOutside, writeUnique } from "./statements.js";

interface PasskeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly credential_id: string;
  readonly public_key: string;
  /** Integers, in the types that drivers give them by their options. */
  readonly counter: number | bigint | string;
  /** The hash of the challenge of the last use; `""` before the first. */
  readonly last_challenge: string;
  /** With spaces between. */
  readonly transports: string;
  readonly usage_kind: PasskeyUsage;
  /** As a part of a URL: a database may have a character set without the letters of a person. */
  readonly name: string;
  readonly created_at: number | bigint | string;
  readonly last_used_at: number | bigint | string | null;
}

interface PasskeyTables {
  readonly framework_passkeys: PasskeyRow;
}

const TABLE = "framework_passkeys";

export class DatabasePasskeys<Tables = unknown> extends PasskeyStore {
  private readonly query: Kysely<PasskeyTables>;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<PasskeyTables>;
  }

  override async find(id: string): Promise<Passkey | undefined> {
    const row = await this.query.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
    return row && toPasskey(row);
  }

  override async listOfUser(userId: string): Promise<readonly Passkey[]> {
    const rows = this.query.selectFrom(TABLE).selectAll().where("user_id", "=", userId);
    return (await rows.orderBy("created_at").orderBy("id").execute()).map(toPasskey);
  }

  override insert(passkey: Passkey): Promise<boolean> {
    return writeUnique(this.db, () => this.query.insertInto(TABLE).values(toRow(passkey)).execute());
  }

  override async use(id: string, { from, counter, challenge, lastUsedAt }: PasskeyUse): Promise<boolean> {
    const update = this.query
      .updateTable(TABLE)
      .set({ counter, last_challenge: challenge, last_used_at: lastUsedAt })
      .where("id", "=", id)
      .where("counter", "=", from)
      .where("last_challenge", "!=", challenge);
    const run = () => update.executeTakeFirst();
    return (await runOutside(this.db, run)).numUpdatedRows === 1n;
  }

  override async rename(userId: string, id: string, name: string): Promise<boolean> {
    const update = this.query
      .updateTable(TABLE)
      .set({ name: encodeURIComponent(name) })
      .where("id", "=", id);
    return (await update.where("user_id", "=", userId).executeTakeFirst()).numUpdatedRows === 1n;
  }

  override async delete(userId: string, id: string): Promise<boolean> {
    const rows = this.query.deleteFrom(TABLE).where("id", "=", id).where("user_id", "=", userId);
    return (await rows.executeTakeFirst()).numDeletedRows === 1n;
  }
}

function toRow(passkey: Passkey): PasskeyRow {
  return {
    id: passkey.id,
    user_id: passkey.userId,
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    last_challenge: "",
    transports: passkey.transports.join(" "),
    usage_kind: passkey.usage,
    name: encodeURIComponent(passkey.name),
    created_at: passkey.createdAt,
    last_used_at: passkey.lastUsedAt ?? null,
  };
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: Number(row.counter),
    transports: row.transports.split(" ").filter(Boolean),
    usage: row.usage_kind,
    name: decodeURIComponent(row.name),
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? undefined : Number(row.last_used_at),
  };
}
