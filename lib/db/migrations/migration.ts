/**
 * Migrations: the steps that change the schema of a database from one version of the application to the next, in order, each with a name
 * that never changes. They are values, or the files of a folder (`readMigrations`).
 *
 * Not for data that the application itself creates. Do not edit a released step: write the next one instead.
 *
 * @example
 * // migrations/2026-01-02-links.ts
 * export async function up(db: Kysely<MigrationTables>) {
 *   await db.schema.createTable("links").addColumn("slug", "varchar(40)", (slug) => slug.primaryKey()).execute();
 * }
 * export async function down(db: Kysely<MigrationTables>) {
 *   await db.schema.dropTable("links").execute();
 * }
 *
 * new ShopDatabase(sqlite("shop.db"), { migrations: [readMigrations(new URL("migrations/", import.meta.url))], migrate: true });
 */
import type { Kysely } from "kysely";

/** A migration knows the tables of its time, which no type of today describes. */
export type MigrationTables = Record<string, Record<string, unknown>>;

export interface Migration {
  /** Unique and permanent, because the database stores it. 1 to 200 characters. */
  readonly name: string;
  readonly up: (db: Kysely<MigrationTables>) => Promise<unknown>;
  /** Undoes `up`, for `migrations.rollback`. */
  readonly down?: (db: Kysely<MigrationTables>) => Promise<unknown>;
  /** False for statements that an engine refuses in a transaction, such as `create index concurrently`. True unless set. */
  readonly transaction?: boolean;
  /**
   * 1 to 60 characters, which the database stores. An applied migration whose checksum has changed was edited, and the start is refused. A
   * file of SQL has a checksum of its text. A function has only a declared checksum, because a compiler may change its text.
   */
  readonly checksum?: string;
}
