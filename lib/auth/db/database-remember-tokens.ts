/**
 * The devices that stay signed in, in the table `framework_remember_tokens` of the application's database. A rotation is one statement, and
 * no part of a transaction that is open around it: the device gets its successor even if the transaction rolls back.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import { tracing } from "../../tracing/tracing.js";
import {
  type RememberRotation,
  type RememberScope,
  type RememberToken,
  RememberTokens,
} from "../remember/remember-tokens.js";
import type { SignInMethod } from "../session-identity.js";
import { runOutside } from "./statements.js";

const log = tracing.target("framework::auth");

interface TokenRow {
  readonly selector: string;
  readonly user_id: string;
  readonly sign_in_id: string;
  readonly stamp: string;
  readonly method: SignInMethod;
  /** Integers, in the types that drivers give them by their options. */
  readonly generation: number | bigint | string;
  readonly user_agent: string;
  readonly address: string;
  readonly created_at: number | bigint | string;
  readonly rotated_at: number | bigint | string;
  readonly expires_at: number | bigint | string;
}

interface TokenTables {
  readonly framework_remember_tokens: TokenRow;
}

const TABLE = "framework_remember_tokens";
const MAX_LISTED = 1000;

export class DatabaseRememberTokens<Tables = unknown> extends RememberTokens {
  private readonly query: Kysely<TokenTables>;
  private readonly expired = new ExpiredRows(
    (now, limit) => this.deleteExpired(now, limit),
    (fields) => log.warn("sweep of remember-me tokens failed", fields),
  );

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<TokenTables>;
  }

  override async insert(token: RememberToken): Promise<void> {
    await this.query.insertInto(TABLE).values(toRow(token)).execute();
    this.expired.sweep(token.createdAt);
  }

  override async find(selector: string, now: number): Promise<RememberToken | undefined> {
    const rows = this.query.selectFrom(TABLE).selectAll().where("selector", "=", selector);
    const row = await rows.where("expires_at", ">", now).executeTakeFirst();
    return row && toToken(row);
  }

  override async rotate(selector: string, { from, rotatedAt, expiresAt }: RememberRotation): Promise<boolean> {
    const update = this.query
      .updateTable(TABLE)
      .set({ generation: from + 1, rotated_at: rotatedAt, expires_at: expiresAt })
      .where("selector", "=", selector)
      .where("generation", "=", from);
    const { numUpdatedRows } = await runOutside(this.db, () => update.executeTakeFirst());
    return numUpdatedRows === 1n;
  }

  override async delete(selector: string): Promise<void> {
    await this.query.deleteFrom(TABLE).where("selector", "=", selector).execute();
  }

  override async deleteOfUser(userId: string, { only, except }: RememberScope = {}): Promise<number> {
    let rows = this.query.deleteFrom(TABLE).where("user_id", "=", userId);
    if (only !== undefined) rows = rows.where("sign_in_id", "=", only);
    if (except !== undefined) rows = rows.where("sign_in_id", "!=", except);
    return Number((await rows.executeTakeFirst()).numDeletedRows);
  }

  override async listOfUser(userId: string, now: number): Promise<readonly RememberToken[]> {
    const rows = this.query.selectFrom(TABLE).selectAll().where("user_id", "=", userId).where("expires_at", ">", now);
    return (await rows.orderBy("rotated_at", "desc").limit(MAX_LISTED).execute()).map(toToken);
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

function toRow(token: RememberToken): TokenRow {
  return {
    selector: token.selector,
    user_id: token.userId,
    sign_in_id: token.signInId,
    stamp: token.stamp,
    method: token.method,
    generation: token.generation,
    user_agent: token.userAgent,
    address: token.address,
    created_at: token.createdAt,
    rotated_at: token.rotatedAt,
    expires_at: token.expiresAt,
  };
}

function toToken(row: TokenRow): RememberToken {
  return {
    selector: row.selector,
    userId: row.user_id,
    signInId: row.sign_in_id,
    stamp: row.stamp,
    method: row.method,
    generation: Number(row.generation),
    userAgent: row.user_agent,
    address: row.address,
    createdAt: Number(row.created_at),
    rotatedAt: Number(row.rotated_at),
    expiresAt: Number(row.expires_at),
  };
}
