/**
 * The entry point `@stagecraft/framework/db/postgres`: PostgreSQL as the engine of a database. Needs the package `pg`. If it is missing,
 * the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { postgres } from "../db/drivers/postgres/postgres-driver.js";
export type { PostgresBigints, PostgresOptions } from "../db/drivers/postgres/postgres-options.js";
export type { PoolOptions } from "../db/pool/pool-options.js";
