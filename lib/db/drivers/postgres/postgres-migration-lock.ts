/**
 * The lock that prevents two processes from migrating one database at once: an advisory lock of a transaction on a separate connection. It
 * ends with that transaction, so a killed process leaves no lock behind, and it works behind a pooler too.
 *
 * `create index concurrently` waits for each transaction that has a snapshot. So the transaction of the lock must have none: it is read
 * committed, and its statements have no binds, because a statement with binds leaves its snapshot open. A process that waits for the lock
 * opens a transaction for each attempt.
 */
import type { PostgresClient } from "./postgres-client.js";
import { type DriverError, migrationLockError } from "../../driver-error.js";
import type { MigrationLock } from "../../driver.js";
import { type Clock, sleep } from "../../../runtime/clock.js";

/** Two arbitrary numbers that no other program uses; advisory locks belong to one database. */
const LOCK = [0x66_72_61_6d, 0x6d_69_67_72] as const;

const HOLDER = `
  select a.pid, a.application_name as application, coalesce(host(a.client_addr), 'the server') as client,
         to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 limit 1`;

const TAKE = `begin isolation level read committed; select pg_try_advisory_xact_lock(${LOCK.join(", ")}) as taken`;

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;

/** @throws DriverError of the kind `busy`, which names the holder of the lock and the start of its transaction */
export async function lockPostgresMigrations(
  client: PostgresClient,
  clock: Clock,
  waitMs: number,
): Promise<MigrationLock> {
  const until = clock.monotonic() + waitMs;
  try {
    for (let pause = FIRST_PAUSE_MS; !(await take(client)); pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const left = until - clock.monotonic();
      if (left <= 0) throw await createLockError(client);
      await sleep(clock, Math.min(pause * (0.5 + Math.random() / 2), left));
    }
  } catch (error) {
    client.close();
    throw error;
  }
  return { release: () => release(client) };
}

async function take(client: PostgresClient): Promise<boolean> {
  const [{ taken } = {}] = (await client.send(TAKE)).rows;
  if (taken !== true) await client.send("rollback");
  return taken === true;
}

async function release(client: PostgresClient): Promise<void> {
  try {
    await client.send("commit");
  } finally {
    client.close();
  }
}

async function createLockError(client: PostgresClient): Promise<DriverError> {
  const [holder] = (await client.send(HOLDER, LOCK)).rows;
  return migrationLockError(holder && formatHolder(holder));
}

function formatHolder({ application, client, pid, since }: Readonly<Record<string, unknown>>): string {
  return `${String(application)} at ${String(client)} (process ${String(pid)} of the server) since ${String(since)}`;
}
