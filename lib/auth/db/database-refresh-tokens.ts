/**
 * The refresh tokens, in the table `framework_refresh_tokens` of the application's database. A rotation is one statement, and no part of a
 * transaction that is open around it, and neither is the end of a family: the client has used the token whatever the transaction does.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import { tracing } from "../../tracing/tracing.js";
import { type RefreshFamily, RefreshTokenStore } from "../jwt/refresh-token-store.js";
import type { Rotation } from "../rotated-token.js";
import { runOutside } from "./statements.js";

const log = tracing.target("framework::auth");

interface FamilyRow {
  readonly selector: string;
  readonly user_id: string;
  readonly client_id: string | null;
  readonly scopes: string;
  readonly stamp: string;
  /** Integers, in the types that drivers give them by their options. */
  readonly generation: number | bigint | string;
  readonly created_at: number | bigint | string;
  readonly rotated_at: number | bigint | string;
  readonly expires_at: number | bigint | string;
}

interface FamilyTables {
  readonly framework_refresh_tokens: FamilyRow;
}

const TABLE = "framework_refresh_tokens";

export class DatabaseRefreshTokens<Tables = unknown> extends RefreshTokenStore {
  private readonly query: Kysely<FamilyTables>;
  private readonly expired = new ExpiredRows(
    (now, limit) => this.deleteExpired(now, limit),
    (fields) => log.warn("sweep of refresh tokens failed", fields),
  );

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<FamilyTables>;
  }

  override async insert(family: RefreshFamily): Promise<void> {
    await this.query.insertInto(TABLE).values(toRow(family)).execute();
    this.expired.sweep(family.createdAt);
  }

  override async find(selector: string, now: number): Promise<RefreshFamily | undefined> {
    const rows = this.query.selectFrom(TABLE).selectAll().where("selector", "=", selector);
    const row = await rows.where("expires_at", ">", now).executeTakeFirst();
    return row && toFamily(row);
  }

  override async rotate(selector: string, { from, rotatedAt, expiresAt }: Rotation): Promise<boolean> {
    const update = this.query
      .updateTable(TABLE)
      .set({ generation: from + 1, rotated_at: rotatedAt, expires_at: expiresAt })
      .where("selector", "=", selector)
      .where("generation", "=", from);
    const { numUpdatedRows } = await runOutside(this.db, () => update.executeTakeFirst());
    return numUpdatedRows === 1n;
  }

  override async delete(selector: string): Promise<void> {
    await runOutside(this.db, () => this.query.deleteFrom(TABLE).where("selector", "=", selector).execute());
  }

  override async deleteOfSubject(subject: string): Promise<number> {
    const { numDeletedRows } = await this.query.deleteFrom(TABLE).where("user_id", "=", subject).executeTakeFirst();
    return Number(numDeletedRows);
  }

  private async deleteExpired(now: number, limit: number): Promise<number> {
    const expired = this.query.selectFrom(TABLE).select("selector").where("expires_at", "<=", now);
    const selectors = (await expired.orderBy("expires_at").limit(limit).execute()).map(({ selector }) => selector);
    // Does not delete a row that was rotated in the meantime.
    if (selectors.length > 0)
      await this.query.deleteFrom(TABLE).where("selector", "in", selectors).where("expires_at", "<=", now).execute();
    return selectors.length;
  }
}

function toRow({ subject, clientId, scopes, createdAt, rotatedAt, expiresAt, ...family }: RefreshFamily): FamilyRow {
  const times = { created_at: createdAt, rotated_at: rotatedAt, expires_at: expiresAt };
  return { ...family, user_id: subject, client_id: clientId ?? null, scopes: scopes.join(" "), ...times };
}

function toFamily(row: FamilyRow): RefreshFamily {
  return {
    selector: row.selector,
    subject: row.user_id,
    clientId: row.client_id ?? undefined,
    scopes: row.scopes === "" ? [] : row.scopes.split(" "),
    stamp: row.stamp,
    generation: Number(row.generation),
    createdAt: Number(row.created_at),
    rotatedAt: Number(row.rotated_at),
    expiresAt: Number(row.expires_at),
  };
}
