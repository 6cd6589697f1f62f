/**
 * The lock that prevents two processes from migrating one file at once: an open transaction on a small separate database beside the file,
 * with the suffix `-migrations`. The system releases the lock at the end of the process, so a killed process leaves no lock behind. The
 * database itself is not locked, so that migrations without a transaction work too.
 *
 * The file of the lock stays: if a process removed it, a third process could lock a new file while a second one waits for the old file.
 */
import { chmodSync, chownSync, closeSync, openSync, realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { DriverError, migrationLockError } from "../../driver-error.js";
import type { MigrationLock } from "../../driver.js";
import type { Clock } from "../../../runtime/clock.js";
import { retryWhileLocked } from "./lock-wait.js";
import { openHandle, type SqliteHandle } from "./sqlite-engine.js";
import { sqliteFailure, isBusy } from "./sqlite-failure.js";

/**
 * @param file the database, which exists
 * @throws DriverError, of the kind `busy` with a text that names the holder of the lock and its start; an error of the file system
 */
export async function lockSqliteMigrations(file: string, clock: Clock, waitMs: number): Promise<MigrationLock> {
  const lock = `${realpathSync(file)}-migrations`;
  createLockFile(file, lock);
  const handle = openHandle(lock, false);
  try {
    await retryWhileLocked(clock, waitMs, () => take(handle, clock));
  } catch (error) {
    const lockError = isBusy(error)
      ? migrationLockError(findHolder(handle))
      : new DriverError({ ...sqliteFailure(error), text: `${lock} cannot be locked` });
    handle.close();
    throw lockError;
  }
  return { release: async () => release(handle) };
}

/**
 * Creates the file with the mode and the user of the database, as the engine does for its log: after a start as root, the user of the
 * database must be able to take the lock. Synchronous, because a close of the file releases the locks of other handles of this process.
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

/** The row serves only the error of another process, so a full disk does not fail the lock. */
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
  // Other processes can read the row now. If one of them has taken the lock meanwhile, this statement fails, and the wait continues.
  handle.exec("begin immediate");
}

function release(handle: SqliteHandle): void {
  try {
    handle.exec("rollback");
  } finally {
    handle.close();
  }
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
