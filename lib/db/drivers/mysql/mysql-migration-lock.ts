/**
 * The lock that prevents two processes from migrating one database at once: a named lock on a separate connection. The names belong to the
 * whole server, so the name of the lock includes that of the database. The lock ends with the connection.
 */
import { createHash } from "node:crypto";
import { type DriverError, migrationLockError } from "../../driver-error.js";
import type { MigrationLock } from "../../driver.js";
import type { MysqlClient } from "./mysql-client.js";

/** In characters; MySQL takes no longer name. */
const MAX_NAME_LENGTH = 64;

const HOLDER = `
  select p.id as id, p.host as host, date_format(utc_timestamp() - interval p.time second, '%Y-%m-%dT%H:%i:%sZ') as since
  from information_schema.processlist p where p.id = is_used_lock(?)`;

/** @throws DriverError of the kind `busy`, which names the connection that holds the lock */
export async function lockMysqlMigrations(
  client: MysqlClient,
  database: string,
  waitMs: number,
): Promise<MigrationLock> {
  const name = toLockName(database);
  try {
    const [{ taken } = {}] = (await client.send("select get_lock(?, ?) as taken", [name, Math.ceil(waitMs / 1000)]))
      .rows;
    if (Number(taken) === 1) return { release: () => release(client, name) };
    throw await createLockError(client, name);
  } catch (error) {
    client.close();
    throw error;
  }
}

async function release(client: MysqlClient, name: string): Promise<void> {
  try {
    await client.send("select release_lock(?)", [name]);
  } finally {
    client.close();
  }
}

async function createLockError(client: MysqlClient, name: string): Promise<DriverError> {
  const [holder] = (await client.send(HOLDER, [name])).rows;
  if (holder === undefined) return migrationLockError();
  const { id, host, since } = holder;
  return migrationLockError(`connection ${String(id)} from ${String(host)}, in its state since ${String(since)}`);
}

function toLockName(database: string): string {
  const name = `framework_migrations:${database}`;
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `framework_migrations:${createHash("sha256").update(database).digest("hex").slice(0, 40)}`;
}
