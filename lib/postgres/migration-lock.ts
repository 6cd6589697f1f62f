/**
 * The lock that keeps two processes from migrating one database at once: an advisory lock of a transaction on a connection of its own. It
 * ends with that transaction, so a killed process leaves nothing behind, and it works behind a pooler too.
 */
import type { PostgresClient } from "./postgres-client.js";
import { DriverError } from "../db/driver-error.js";
import type { MigrationLock } from "../db/driver.js";
import { postgresFailure } from "./postgres-failure.js";

/** Any two numbers that no other program uses; advisory locks belong to one database. */
const LOCK = [0x66_72_61_6d, 0x6d_69_67_72] as const;

const HOLDER = `
  select a.pid, a.application_name as application, coalesce(host(a.client_addr), 'the server') as client,
         to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 limit 1`;

/** @throws DriverError of the kind `busy`, which says who holds the lock and since when */
export async function lockMigrations(client: PostgresClient, waitMs: number): Promise<MigrationLock> {
  try {
    await client.send("begin");
    await client.send(`set local lock_timeout = ${Math.max(1, Math.trunc(waitMs))}`);
    await client.send("select pg_advisory_xact_lock($1, $2)", LOCK);
  } catch (error) {
    const busy = postgresFailure(error).kind === "busy" ? await heldByAnother(client) : undefined;
    client.close();
    throw busy ?? error;
  }
  return { release: () => release(client) };
}

async function release(client: PostgresClient): Promise<void> {
  try {
    await client.send("commit");
  } finally {
    client.close();
  }
}

async function heldByAnother(client: PostgresClient): Promise<DriverError> {
  await client.send("rollback");
  const [holder] = (await client.send(HOLDER, LOCK)).rows;
  const who = holder === undefined ? "another process" : holderText(holder);
  return new DriverError({
    kind: "busy",
    code: "MIGRATION_LOCK",
    text: `the lock of the migrations is held by ${who}`,
  });
}

function holderText({ application, client, pid, since }: Readonly<Record<string, unknown>>): string {
  return `${String(application)} at ${String(client)} (process ${String(pid)} of the server) since ${String(since)}`;
}
