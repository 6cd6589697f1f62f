/** API tokens in the table `framework_api_tokens` of the application's database. A change joins the transaction that is open around it. */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import { tracing } from "../../tracing/tracing.js";
import { type ApiToken, ApiTokenStore, type NewApiToken } from "../tokens/api-token-store.js";
import type { BigintColumn } from "./database-identities.js";

const log = tracing.target("framework::auth");

interface ApiTokenRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  /** Words with a space between them. */
  readonly scopes: string;
  readonly created_at: BigintColumn;
  readonly expires_at: BigintColumn | null;
  readonly last_used_at: BigintColumn | null;
}

interface ApiTokenTables {
  readonly framework_api_tokens: ApiTokenRow & { readonly hash: string };
}

const TABLE = "framework_api_tokens";
const COLUMNS = ["id", "user_id", "name", "scopes", "created_at", "expires_at", "last_used_at"] as const;
/** A user sees for 30 days that a token has expired. */
const EXPIRED_FOR_MS = 2_592_000_000;

export class DatabaseApiTokens<Tables = unknown> extends ApiTokenStore {
  private readonly query: Kysely<ApiTokenTables>;
  private readonly expired = new ExpiredRows(
    (now, limit) => this.deleteExpired(now, limit),
    (fields) => log.warn("sweep of API tokens failed", fields),
  );

  constructor(db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<ApiTokenTables>;
  }

  /** The row is there before the count, so of several at the same time none counts too few. */
  override async insert({ token, hash, max }: NewApiToken): Promise<boolean> {
    const { id, userId, createdAt } = token;
    await this.query
      .insertInto(TABLE)
      .values({ ...toRow(token), hash })
      .execute();
    this.expired.sweep(createdAt);
    const total = this.query.fn.count("id").as("total");
    const rows = this.query.selectFrom(TABLE).select(total).where("user_id", "=", userId);
    if (Number((await rows.executeTakeFirstOrThrow()).total) <= max) return true;
    await this.delete(userId, id);
    return false;
  }

  override async findByHash(hash: string): Promise<ApiToken | undefined> {
    const row = await this.query.selectFrom(TABLE).select(COLUMNS).where("hash", "=", hash).executeTakeFirst();
    return row && toToken(row);
  }

  override async listOfUser(userId: string): Promise<readonly ApiToken[]> {
    const rows = this.query.selectFrom(TABLE).select(COLUMNS).where("user_id", "=", userId);
    return (await rows.orderBy("created_at", "desc").orderBy("id").execute()).map(toToken);
  }

  override async setUsed(id: string, usedAt: number, everyMs: number): Promise<void> {
    const update = this.query.updateTable(TABLE).set({ last_used_at: usedAt }).where("id", "=", id);
    await update
      .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<=", usedAt - everyMs)]))
      .execute();
  }

  override async delete(userId: string, id: string): Promise<boolean> {
    const rows = this.query.deleteFrom(TABLE).where("id", "=", id).where("user_id", "=", userId);
    return (await rows.executeTakeFirst()).numDeletedRows === 1n;
  }

  override async deleteOfUser(userId: string): Promise<number> {
    const rows = this.query.deleteFrom(TABLE).where("user_id", "=", userId);
    return Number((await rows.executeTakeFirst()).numDeletedRows);
  }

  private async deleteExpired(now: number, limit: number): Promise<number> {
    const expired = this.query
      .selectFrom(TABLE)
      .select("id")
      .where("expires_at", "<", now - EXPIRED_FOR_MS);
    const ids = (await expired.orderBy("expires_at").limit(limit).execute()).map(({ id }) => id);
    if (ids.length > 0) await this.query.deleteFrom(TABLE).where("id", "in", ids).execute();
    return ids.length;
  }
}

function toRow({ id, userId, name, scopes, createdAt, expiresAt, lastUsedAt }: ApiToken): ApiTokenRow {
  return {
    id,
    user_id: userId,
    name,
    scopes: scopes.join(" "),
    created_at: createdAt,
    expires_at: expiresAt ?? null,
    last_used_at: lastUsedAt ?? null,
  };
}

function toToken(row: ApiTokenRow): ApiToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    scopes: row.scopes === "" ? [] : row.scopes.split(" "),
    createdAt: Number(row.created_at),
    expiresAt: row.expires_at === null ? undefined : Number(row.expires_at),
    lastUsedAt: row.last_used_at === null ? undefined : Number(row.last_used_at),
  };
}
