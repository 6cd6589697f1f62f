/**
 * The accounts of persons at providers in the table `framework_provider_accounts` of the application's database, and the attempts to sign in
 * that are used up in `framework_provider_attempts`.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import { tracing } from "../../tracing/tracing.js";
import { type ProviderAccount, ProviderAccounts, type StoredTokens, type TokenLease } from "../provider-accounts.js";
import type { BigintColumn } from "./database-identities.js";
import { runOutside, writeUnique } from "./statements.js";

const log = tracing.target("framework::auth");

interface AccountRow {
  readonly id: string;
  readonly user_id: string;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** As a part of a URL: a database may have a character set without the letters of a person. */
  readonly email: string;
  readonly created_at: BigintColumn;
  readonly last_used_at: BigintColumn;
  readonly tokens: string | null;
  readonly tokens_expire_at: BigintColumn | null;
  readonly tokens_version: BigintColumn;
  readonly tokens_leased_until: BigintColumn | null;
}

interface AttemptRow {
  readonly id: string;
  readonly expires_at: BigintColumn;
}

interface ProviderTables {
  readonly framework_provider_accounts: AccountRow;
  readonly framework_provider_attempts: AttemptRow;
}

const ACCOUNTS = "framework_provider_accounts";
const ATTEMPTS = "framework_provider_attempts";

export class DatabaseProviderAccounts<Tables = unknown> extends ProviderAccounts {
  private readonly query: Kysely<ProviderTables>;
  private readonly expired = new ExpiredRows(
    (now, limit) => this.deleteExpired(now, limit),
    (fields) => log.warn("sweep of attempts to sign in failed", fields),
  );

  constructor(private readonly db: Database<Tables>) {
    super();
    const migrations = "authMigrations of @stagecraft/framework/auth/db";
    for (const table of [ACCOUNTS, ATTEMPTS]) db.requireTable({ table, migrations });
    // The migration creates these tables. A plugin of the application would rename their columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<ProviderTables>;
  }

  override async find(id: string): Promise<ProviderAccount | undefined> {
    const row = await this.query.selectFrom(ACCOUNTS).selectAll().where("id", "=", id).executeTakeFirst();
    return row && toAccount(row);
  }

  override async listOfUser(userId: string): Promise<readonly ProviderAccount[]> {
    const rows = this.query.selectFrom(ACCOUNTS).selectAll().where("user_id", "=", userId);
    return (await rows.orderBy("created_at").orderBy("id").execute()).map(toAccount);
  }

  override insert(account: ProviderAccount): Promise<boolean> {
    return writeUnique(this.db, () => this.query.insertInto(ACCOUNTS).values(toRow(account)).execute());
  }

  override async setUsed(id: string, usage: { readonly email: string; readonly lastUsedAt: number }): Promise<void> {
    const values = { email: encodeURIComponent(usage.email), last_used_at: usage.lastUsedAt };
    await this.query.updateTable(ACCOUNTS).set(values).where("id", "=", id).execute();
  }

  override async delete(userId: string, id: string): Promise<boolean> {
    const rows = this.query.deleteFrom(ACCOUNTS).where("id", "=", id).where("user_id", "=", userId);
    return (await rows.executeTakeFirst()).numDeletedRows === 1n;
  }

  override async findTokens(id: string): Promise<StoredTokens | undefined> {
    const row = await this.query
      .selectFrom(ACCOUNTS)
      .select(["tokens", "tokens_expire_at", "tokens_version"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row === undefined || row.tokens === null) return undefined;
    const expiresAt = row.tokens_expire_at === null ? undefined : Number(row.tokens_expire_at);
    return { tokens: row.tokens, expiresAt, version: Number(row.tokens_version) };
  }

  override async setTokens(
    id: string,
    stored: Omit<StoredTokens, "version"> | undefined,
    leasedUntil?: number,
  ): Promise<boolean> {
    let update = this.query
      .updateTable(ACCOUNTS)
      .set(({ eb }) => ({
        tokens: stored?.tokens ?? null,
        tokens_expire_at: stored?.expiresAt ?? null,
        tokens_version: eb("tokens_version", "+", 1),
        tokens_leased_until: null,
      }))
      .where("id", "=", id);
    if (leasedUntil !== undefined) update = update.where("tokens_leased_until", "=", leasedUntil);
    return (await runOutside(this.db, () => update.executeTakeFirst())).numUpdatedRows === 1n;
  }

  override async leaseTokens(id: string, { version, now, until }: TokenLease): Promise<boolean> {
    const update = this.query
      .updateTable(ACCOUNTS)
      .set({ tokens_leased_until: until })
      .where("id", "=", id)
      .where("tokens_version", "=", version)
      .where((is) => is.or([is("tokens_leased_until", "is", null), is("tokens_leased_until", "<", now)]));
    return (await runOutside(this.db, () => update.executeTakeFirst())).numUpdatedRows === 1n;
  }

  override async useAttempt(id: string, { now, expiresAt }: { now: number; expiresAt: number }): Promise<boolean> {
    this.expired.sweep(now);
    const insert = this.query.insertInto(ATTEMPTS).values({ id, expires_at: expiresAt });
    return runOutside(this.db, () => writeUnique(this.db, () => insert.execute()));
  }

  private async deleteExpired(now: number, limit: number): Promise<number> {
    const rows = this.query.selectFrom(ATTEMPTS).select("id").where("expires_at", "<", now);
    const ids = (await rows.orderBy("expires_at").limit(limit).execute()).map(({ id }) => id);
    if (ids.length > 0) await this.query.deleteFrom(ATTEMPTS).where("id", "in", ids).execute();
    return ids.length;
  }
}

function toRow(account: ProviderAccount): AccountRow {
  return {
    id: account.id,
    user_id: account.userId,
    provider: account.provider,
    issuer: account.issuer,
    subject: account.subject,
    email: encodeURIComponent(account.email),
    created_at: account.createdAt,
    last_used_at: account.lastUsedAt,
    tokens: null,
    tokens_expire_at: null,
    tokens_version: 0,
    tokens_leased_until: null,
  };
}

function toAccount(row: AccountRow): ProviderAccount {
  return {
    id: row.id,
    userId: row.user_id,
    provider: row.provider,
    issuer: row.issuer,
    subject: row.subject,
    email: decodeURIComponent(row.email),
    createdAt: Number(row.created_at),
    lastUsedAt: Number(row.last_used_at),
  };
}
