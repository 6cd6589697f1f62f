/** The entry point `@stagecraft/framework/maintenance`: the stores that share a maintenance between processes. It loads no package. */
export { FileMaintenanceStore } from "../stages/maintenance/file-maintenance-store.js";
export { MaintenanceStore, type MaintenanceState } from "../stages/maintenance/maintenance-store.js";
