/** The entry point `@stagecraft/framework/maintenance`: the stores that share a maintenance between processes. It loads no package. */
export { DatabaseMaintenanceStore } from "../stages/maintenance/db/database-maintenance-store.js";
export { maintenanceMigrations } from "../stages/maintenance/db/maintenance-migrations.js";
export { FileMaintenanceStore } from "../stages/maintenance/file-maintenance-store.js";
export { MaintenanceStore, type MaintenanceState } from "../stages/maintenance/maintenance-store.js";
export { RedisMaintenanceStore } from "../stages/maintenance/redis-maintenance-store.js";
