/**
 * The entry point `@stagecraft/framework/maintenance/db`: a maintenance in a database of the application. Its declarations name the package
 * `kysely`, which every such application has.
 */
export { DatabaseMaintenanceStore } from "../stages/maintenance/db/database-maintenance-store.js";
export { maintenanceMigrations } from "../stages/maintenance/db/maintenance-migrations.js";
