/**
 * The table of `DatabaseMaintenanceStore` as migrations, for the list of the database. A migration that was released never changes.
 *
 * @example
 * new ShopDatabase(sqlite("shop.db"), { migrations: [maintenanceMigrations, readMigrations(folder)], migrate: true });
 */
import type { Migration } from "../../../db/migrations/migration.js";

/** Creates `framework_maintenance`, which has one row at most. */
export const maintenanceMigrations: readonly Migration[] = [
  {
    name: "framework-maintenance-1",
    up: (db) =>
      db.schema
        .createTable("framework_maintenance")
        .addColumn("id", "integer", (column) => column.primaryKey())
        // The limit of a state.
        .addColumn("state", "varchar(2000)", (column) => column.notNull())
        .execute(),
    down: (db) => db.schema.dropTable("framework_maintenance").execute(),
  },
];
