/** The tables, and the database that has them: a file of SQLite, or PostgreSQL where the environment names one. */
import { authMigrations } from "@stagecraft/framework/auth/db";
import { Database, type Migration } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { jobsMigrations } from "@stagecraft/framework/jobs";
import { sessionMigrations } from "@stagecraft/framework/session/db";

/** Times and days are ISO texts in UTC, which sort as they are. */
export interface Tables {
  people: { id: string; created_at: string };
  links: { slug: string; target: string; owner: string | null; created_at: string; visits: number };
  clicks: { slug: string; day: string; visits: number };
}

export class LinksDatabase extends Database<Tables> {}

/** @param url of a PostgreSQL; @param file of SQLite, where there is no URL */
export async function openDatabase(url: string | undefined, file: string): Promise<LinksDatabase> {
  if (url === undefined) return fileDatabase(file);
  const { postgres } = await import("@stagecraft/framework/db/postgres");
  return new LinksDatabase(postgres(url), { migrations, migrate: true });
}

/** @param file a path; without one the data is in memory, and ends with the process */
export function fileDatabase(file = ":memory:"): LinksDatabase {
  // The machine of a developer is busy with compilers, which makes a query of the default 50 ms slow too often.
  return new LinksDatabase(sqlite(file), { migrations, migrate: true, slowQueryMs: 500 });
}

const tables: Migration = {
  name: "2026-11-links",
  up: async (db) => {
    await db.schema
      .createTable("people")
      .addColumn("name", "varchar(32)", (name) => name.primaryKey())
      .addColumn("password", "varchar(200)", (password) => password.notNull())
      .execute();
    await db.schema
      .createTable("links")
      .addColumn("slug", "varchar(32)", (slug) => slug.primaryKey())
      .addColumn("target", "varchar(2048)", (target) => target.notNull())
      .addColumn("owner", "varchar(32)")
      .addColumn("created_at", "varchar(24)", (time) => time.notNull())
      .addColumn("visits", "integer", (visits) => visits.notNull())
      .execute();
    await db.schema.createIndex("links_by_time").on("links").column("created_at").execute();
    await db.schema.createIndex("links_by_visits").on("links").column("visits").execute();
    await db.schema
      .createTable("clicks")
      .addColumn("slug", "varchar(32)", (slug) => slug.notNull().references("links.slug").onDelete("cascade"))
      .addColumn("day", "varchar(10)", (day) => day.notNull())
      .addColumn("visits", "integer", (visits) => visits.notNull())
      .addPrimaryKeyConstraint("clicks_key", ["slug", "day"])
      .execute();
  },
};

/** The accounts until then have no address, so nobody can sign in to them: their links are those of programs from now on. */
const accounts: Migration = {
  name: "2026-11-links-accounts",
  up: async (db) => {
    await db.schema.dropTable("people").execute();
    await db.schema
      .createTable("people")
      .addColumn("id", "varchar(36)", (id) => id.primaryKey())
      .addColumn("created_at", "varchar(24)", (time) => time.notNull())
      .execute();
    // An id is longer than the name of an account until then.
    await db.schema.alterTable("links").dropColumn("owner").execute();
    await db.schema.alterTable("links").addColumn("owner", "varchar(36)").execute();
  },
};

/** The tables of the sample, of its identities, of its jobs, and of its sessions. */
const migrations = [tables, accounts, authMigrations, jobsMigrations, sessionMigrations];
