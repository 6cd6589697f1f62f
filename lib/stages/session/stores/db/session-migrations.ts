/**
 * The table of `DatabaseSessionStore` as migrations, for the list of the database. A later version of the framework may add one; a
 * migration that was released never changes.
 *
 * @example
 * new ShopDatabase(sqlite("shop.db"), { migrations: [sessionMigrations, readMigrations(folder)], migrate: true });
 */
import type { Kysely } from "kysely";
import type { Migration, MigrationTables } from "../../../../db/migrations/migration.js";

/** Creates `framework_sessions`, and adds the owner. */
export const sessionMigrations: readonly Migration[] = [
  {
    name: "framework-sessions-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_sessions")
        // SHA-256 in lower-case hexadecimal digits, which every collation compares in the same way.
        .addColumn("id", "varchar(64)", (column) => column.primaryKey())
        // A `text` of MySQL holds 64 KiB.
        .addColumn("data", isMysql(db) ? "json" : "text", (column) => column.notNull())
        .addColumn("version", "integer", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("renewed_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .addColumn("ended_at", "bigint")
        .execute();
      await db.schema
        .createIndex("framework_sessions_expires_at")
        .on("framework_sessions")
        .column("expires_at")
        .execute();
    },
    down: (db) => db.schema.dropTable("framework_sessions").execute(),
  },
  {
    name: "framework-sessions-2",
    up: async (db) => {
      // SHA-256 in lower-case hexadecimal digits, as the id.
      await db.schema.alterTable("framework_sessions").addColumn("owner", "varchar(64)").execute();
      await db.schema.createIndex("framework_sessions_owner").on("framework_sessions").column("owner").execute();
    },
    down: async (db) => {
      const index = db.schema.dropIndex("framework_sessions_owner");
      // PostgreSQL and SQLite take no table here, and MySQL needs it.
      await (isMysql(db) ? index.on("framework_sessions") : index).execute();
      await db.schema.alterTable("framework_sessions").dropColumn("owner").execute();
    },
  },
];

/** A migration has the query builder alone. Only that of MySQL and MariaDB quotes names with backticks. */
function isMysql(db: Kysely<MigrationTables>): boolean {
  return db.selectFrom("framework_sessions").select("id").compile().sql.includes("`");
}
