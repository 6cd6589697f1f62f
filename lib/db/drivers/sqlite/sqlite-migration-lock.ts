/**
 * The lock that keeps two processes from migrating one file at once: an open transaction on a small database of its own beside it, with
 * the suffix `-migrations`. The system ends the lock with its process, so a killed process leaves nothing behind. The database itself stays
 * free for the migrations, also for those without a transaction.
 *
 * The file of the lock stays: a process that removed it would let a third one lock a new file while a second one still waits for the old.
 */
import { chmodSync, chownSync, closeSync, openSync, realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { DriverError } from "../../driver-error.js";
import type { DriverFailure, MigrationLock } from "../../driver.js";
import type { Clock } from "../../../runtime/clock.js";
import { retryWhileLocked } from "./lock-wait.js";
import { openHandle, type SqliteHandle } from "./sqlite-engine.js";
import { sqliteFailure, isBusy } from "./sqlite-failure.js";

/**
 * @param file the database, which exists
 * @throws DriverError, of the kind `busy` with a text that says who holds the lock and since when; an error of the file system
 */
export async function lockSqliteMigrations(file: string, clock: Clock, waitMs: number): Promise<MigrationLock> {
  const lock = `${realpathSync(file)}-migrations`;
  createLockFile(file, lock);
  const handle = openHandle(lock, false);
  try {
    await retryWhileLocked(clock, waitMs, () => take(handle, clock));
  } catch (error) {
    const failure = isBusy(error)
      ? createLockFailure(handle)
      : { ...sqliteFailure(error), text: `${lock} cannot be locked` };
    handle.close();
    throw new DriverError(failure);
  }
  return { release: async () => release(handle) };
}

/**
 * As the engine makes its log: a start as root must not keep the user of the database from the lock. In one turn of the event loop, because
 * a close of the file ends the locks that other handles of this process hold on it.
 */
function createLockFile(file: string, lock: string): void {
  const { mode, uid, gid } = statSync(file);
  try {
    closeSync(openSync(lock, "wx"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw error;
  }
  chmodSync(lock, mode & 0o777);
  if (process.geteuid?.() === 0) chownSync(lock, uid, gid);
}

/** The row is only for the error of another process: on a full disk the lock does without. */
function take(handle: SqliteHandle, clock: Clock): void {
  handle.exec("begin immediate");
  const holder = `process ${process.pid} on ${hostname()} since ${new Date(clock.now()).toISOString()}`;
  try {
    handle.exec("create table if not exists holder (name text)");
    handle.exec("delete from holder");
    handle.exec(`insert into holder values ('${holder.replaceAll("'", "''")}')`);
    handle.exec("commit");
  } catch (error) {
    if (handle.isTransaction) handle.exec("rollback");
    if (isBusy(error)) throw error;
  }
  // Others can read the row. If one of them has the lock by now, this is a failure, and the wait goes on.
  handle.exec("begin immediate");
}

function release(handle: SqliteHandle): void {
  try {
    handle.exec("rollback");
  } finally {
    handle.close();
  }
}

function createLockFailure(handle: SqliteHandle): DriverFailure {
  const text = `the lock of the migrations is held by ${findHolder(handle) ?? "another process"}`;
  return { kind: "busy", code: "MIGRATION_LOCK", text };
}

function findHolder(handle: SqliteHandle): string | undefined {
  try {
    // The only column.
    const [row] = handle.prepare("select name from holder").all() as readonly { readonly name: string }[];
    return row?.name;
  } catch {
    return undefined;
  }
}
