/** The driver by the name of the engine, for the spec of killed migrations and its program. */
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";

/** @param address the file, or the URL of the server */
export function killedDriver(engine = "", address = ""): DatabaseDriver {
  if (engine === "SQLite") return sqlite(address);
  return engine === "PostgreSQL" ? postgres(address) : mysql(address);
}
