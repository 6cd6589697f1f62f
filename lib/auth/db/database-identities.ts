/**
 * Identities in the table `framework_identities` of the application's database. A change joins the transaction that is open around it, so a
 * user of the application and its identity are created together or not at all.
 *
 * @example
 * providers: [...authentication({ users: AppUsers, keys }), ...authDatabase(AppDatabase)]
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { Identities, type PasswordReplacement, type StampReplacement } from "../identities.js";
import { Identity, type IdentityValues } from "../identity.js";
import { writeUnique } from "./statements.js";

/** An integer of 64 bits, in the types that drivers give it by their options. */
export type BigintColumn = number | bigint | string;

interface IdentityRow {
  readonly user_id: string;
  readonly email: string;
  readonly password: string | null;
  readonly stamp: string;
  readonly verified_at: BigintColumn | null;
  readonly created_at: BigintColumn;
}

type IdentityTables = Readonly<Record<typeof TABLE, IdentityRow>> &
  Readonly<Record<(typeof TABLES_OF_USER)[number], Pick<IdentityRow, "user_id">>>;

const TABLE = "framework_identities";
const MAX_RETRIES = 3;
/** The rows of a user in the tables of `authMigrations`. */
const TABLES_OF_USER = [
  "framework_single_use_links",
  "framework_remember_tokens",
  "framework_totp_secrets",
  "framework_recovery_codes",
  "framework_api_tokens",
  "framework_refresh_tokens",
  "framework_passkeys",
  "framework_provider_accounts",
  TABLE,
] as const;

export class DatabaseIdentities<Tables = unknown> extends Identities {
  private readonly query: Kysely<IdentityTables>;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<IdentityTables>;
  }

  override async find(userId: string): Promise<Identity | undefined> {
    const row = await this.query.selectFrom(TABLE).selectAll().where("user_id", "=", userId).executeTakeFirst();
    return row && toIdentity(row);
  }

  override async findByEmail(email: string): Promise<Identity | undefined> {
    const row = await this.query.selectFrom(TABLE).selectAll().where("email", "=", email).executeTakeFirst();
    return row && toIdentity(row);
  }

  override insert(identity: IdentityValues): Promise<boolean> {
    return writeUnique(this.db, () => this.query.insertInto(TABLE).values(toRow(identity)).execute());
  }

  override async setPassword(userId: string, { from, password, stamp }: PasswordReplacement): Promise<boolean> {
    const update = this.query.updateTable(TABLE).set({ password, stamp }).where("user_id", "=", userId);
    return (await update.where("stamp", "=", from).executeTakeFirst()).numUpdatedRows === 1n;
  }

  override async setStamp(userId: string, { from, stamp }: StampReplacement): Promise<boolean> {
    const update = this.query.updateTable(TABLE).set({ stamp }).where("user_id", "=", userId);
    return (await update.where("stamp", "=", from).executeTakeFirst()).numUpdatedRows === 1n;
  }

  override setEmail(userId: string, email: string, verifiedAt: number): Promise<boolean> {
    const update = this.query.updateTable(TABLE).set({ email, verified_at: verifiedAt }).where("user_id", "=", userId);
    return writeUnique(this.db, async () => (await update.executeTakeFirst()).numUpdatedRows === 1n);
  }

  override async setVerified(userId: string, verifiedAt: number): Promise<void> {
    const update = this.query.updateTable(TABLE).set({ verified_at: verifiedAt }).where("user_id", "=", userId);
    await update.where("verified_at", "is", null).execute();
  }

  override delete(userId: string): Promise<void> {
    return this.db.transaction(async () => {
      for (const table of TABLES_OF_USER) await this.query.deleteFrom(table).where("user_id", "=", userId).execute();
    });
  }

  /** Two flows of one person, such as two resets, lock the same rows in different orders: one of them runs again. */
  override transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.db.transaction(work, { retries: MAX_RETRIES });
  }
}

function toRow({ userId, email, password, stamp, verifiedAt, createdAt }: IdentityValues): IdentityRow {
  return {
    user_id: userId,
    email,
    password: password ?? null,
    stamp,
    verified_at: verifiedAt ?? null,
    created_at: createdAt,
  };
}

function toIdentity(row: IdentityRow): Identity {
  return new Identity({
    userId: row.user_id,
    email: row.email,
    password: row.password ?? undefined,
    stamp: row.stamp,
    verifiedAt: row.verified_at === null ? undefined : Number(row.verified_at),
    createdAt: Number(row.created_at),
  });
}
