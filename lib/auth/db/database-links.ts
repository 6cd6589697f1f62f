/**
 * Single-use links in the table `framework_single_use_links` of the application's database. A change joins the transaction that is open
 * around it: a link is spent together with the effect of its flow, or not at all.
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import { tracing } from "../../tracing/tracing.js";
import { type LinkPurpose, type LinkValues, SingleUseLink, SingleUseLinks } from "../links/single-use-links.js";

const log = tracing.target("framework::auth");

interface LinkRow {
  readonly id: string;
  readonly purpose: LinkPurpose;
  readonly user_id: string | null;
  readonly email: string;
  readonly stamp: string | null;
  readonly password: string | null;
  /** JSON. */
  readonly data: string;
  /** An integer of 64 bits, in the types that drivers give it by their options. */
  readonly expires_at: number | bigint | string;
}

interface LinkTables {
  readonly framework_single_use_links: LinkRow;
}

const TABLE = "framework_single_use_links";

export class DatabaseLinks<Tables = unknown> extends SingleUseLinks {
  private readonly query: Kysely<LinkTables>;
  private readonly expired = new ExpiredRows(
    (now, limit) => this.deleteExpired(now, limit),
    (fields) => log.warn("sweep of single-use links failed", fields),
  );

  constructor(db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "authMigrations of @stagecraft/framework/auth/db" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<LinkTables>;
  }

  override async add(link: LinkValues): Promise<void> {
    await this.query.insertInto(TABLE).values(toRow(link)).execute();
  }

  override async find(id: string, purpose: LinkPurpose, now: number): Promise<SingleUseLink | undefined> {
    this.expired.sweep(now);
    const row = await this.query
      .selectFrom(TABLE)
      .selectAll()
      .where("id", "=", id)
      .where("purpose", "=", purpose)
      .where("expires_at", ">=", now)
      .executeTakeFirst();
    return row && toLink(row);
  }

  override async spend(id: string, purpose: LinkPurpose, now: number): Promise<SingleUseLink | undefined> {
    const link = await this.find(id, purpose, now);
    if (link === undefined) return undefined;
    const { numDeletedRows } = await this.query.deleteFrom(TABLE).where("id", "=", id).executeTakeFirst();
    return numDeletedRows === 1n ? link : undefined;
  }

  override async deleteOfUser(userId: string): Promise<void> {
    await this.query.deleteFrom(TABLE).where("user_id", "=", userId).execute();
  }

  override async deleteSignUps(email: string): Promise<void> {
    await this.query.deleteFrom(TABLE).where("email", "=", email).where("purpose", "=", "sign-up").execute();
  }

  private async deleteExpired(now: number, limit: number): Promise<number> {
    const rows = await this.query
      .selectFrom(TABLE)
      .select("id")
      .where("expires_at", "<", now)
      .orderBy("expires_at")
      .limit(limit)
      .execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await this.query.deleteFrom(TABLE).where("id", "in", ids).execute();
    return ids.length;
  }
}

function toRow({ id, purpose, userId, email, stamp, password, data = null, expiresAt }: LinkValues): LinkRow {
  return {
    id,
    purpose,
    user_id: userId ?? null,
    email,
    stamp: stamp ?? null,
    password: password ?? null,
    data: toAscii(JSON.stringify(data)),
    expires_at: expiresAt,
  };
}

/** A database may have a character set without the letters of a visitor. */
function toAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function toLink(row: LinkRow): SingleUseLink {
  return new SingleUseLink({
    id: row.id,
    purpose: row.purpose,
    userId: row.user_id ?? undefined,
    email: row.email,
    stamp: row.stamp ?? undefined,
    password: row.password ?? undefined,
    data: JSON.parse(row.data) as unknown,
    expiresAt: Number(row.expires_at),
  });
}
