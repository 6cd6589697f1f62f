/**
 * The entry point `@stagecraft/framework/db/sqlite`: the driver for SQLite. Needs Node from 22.16 on, or the package
 * `@photostructure/sqlite`. If that is missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { sqlite, type SqliteOptions } from "../db/drivers/sqlite/sqlite-driver.js";
