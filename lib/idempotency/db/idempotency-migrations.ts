/**
 * The table of `DatabaseIdempotencyStore` as migrations, for the list of the database. A later version of the framework may add one; a
 * migration that was released never changes.
 *
 * @example
 * new ShopDatabase(sqlite("shop.db"), { migrations: [idempotencyMigrations, readMigrations(folder)], migrate: true });
 */
import type { Kysely } from "kysely";
import { sql } from "../../db/kysely.js";
import type { Migration, MigrationTables } from "../../db/migrations/migration.js";

/** Creates `framework_idempotency_keys`. */
export const idempotencyMigrations: readonly Migration[] = [
  {
    name: "framework-idempotency-keys-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_idempotency_keys")
        // SHA-256 in lower-case hexadecimal digits, which every collation compares in the same way.
        .addColumn("id", "varchar(64)", (column) => column.primaryKey())
        .addColumn("fingerprint", "varchar(64)", (column) => column.notNull())
        // A `text` of MySQL holds 64 KiB, and the text of a response of this size is longer.
        .addColumn("response", isMysql(db) ? sql`mediumtext` : "text")
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("framework_idempotency_keys_expires_at")
        .on("framework_idempotency_keys")
        .column("expires_at")
        .execute();
    },
    down: (db) => db.schema.dropTable("framework_idempotency_keys").execute(),
  },
];

/** A migration has the query builder alone. Only that of MySQL and MariaDB quotes names with backticks. */
function isMysql(db: Kysely<MigrationTables>): boolean {
  return db.selectFrom("framework_idempotency_keys").select("id").compile().sql.includes("`");
}
