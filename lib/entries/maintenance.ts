/** The entry point `@stagecraft/framework/maintenance`: a maintenance of several processes, in a file or in Redis. It loads no package. */
export { FileMaintenanceStore } from "../stages/maintenance/file-maintenance-store.js";
export { MaintenanceStore, type MaintenanceState } from "../stages/maintenance/maintenance-store.js";
export { RedisMaintenanceStore } from "../stages/maintenance/redis-maintenance-store.js";
