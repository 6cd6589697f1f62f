/**
 * The entry point `@stagecraft/framework/db/mysql`: MariaDB and MySQL as the engine of a database. Needs the package `mysql2`. If it is
 * missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { mysql } from "../db/drivers/mysql/mysql-driver.js";
export type { MysqlBigints, MysqlOptions } from "../db/drivers/mysql/mysql-options.js";
export type { PoolOptions } from "../db/pool/pool-options.js";
