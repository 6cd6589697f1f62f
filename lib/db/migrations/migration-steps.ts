/**
 * Applies or undoes one migration on a session that holds the lock. In a transaction the record is written in the same transaction. Without
 * one the record has the state `started` first, and `done` at the end.
 */
import type { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { UnknownOutcomeError } from "../database-error.js";
import type { Migration } from "./migration.js";
import { missingDownError } from "./migration-errors.js";
import {
  deleteRecord,
  insertRecord,
  recordWork,
  markDone,
  markStarted,
  type MigrationWork,
} from "./migration-records.js";
import type { MigrationSession } from "./migration-session.js";

const log = tracing.target("framework::db::migrations");

/** @param signal rolls back a migration in a transaction; then the promise rejects with its reason */
export async function applyMigration(
  session: MigrationSession,
  migration: Migration,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const work = session.startWork();
  if (session.isTransactional(migration))
    await session.inTransaction(async ({ tables, records }) => {
      await migration.up(tables);
      await insertRecord(records, migration, clock, work());
    }, signal);
  else await applyInSteps(session, migration, clock, work);
  log.info("migration applied", { migration: migration.name, duration_ms: Math.trunc(work().durationMs) });
}

async function applyInSteps(
  session: MigrationSession,
  migration: Migration,
  clock: Clock,
  work: () => MigrationWork,
): Promise<void> {
  const { records, tables } = session.database;
  await insertRecord(records, migration, clock, undefined);
  const before = session.changes;
  try {
    await migration.up(tables);
  } catch (error) {
    if (isUnchanged(session, before, error)) await deleteRecord(records, migration.name);
    // The caller gets the first error.
    else await recordWork(records, migration.name, work()).catch(() => {});
    throw error;
  }
  await recordWork(records, migration.name, work());
  await markDone(records, migration.name);
}

/** @param signal as that of `applyMigration` @throws FrameworkError `E_DB_MIGRATION_DOWN` */
export async function undoMigration(
  session: MigrationSession,
  migration: Migration,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const { name, down } = migration;
  if (down === undefined) throw missingDownError(name);
  if (session.isTransactional(migration))
    await session.inTransaction(async ({ tables, records }) => {
      await down(tables);
      await deleteRecord(records, name);
    }, signal);
  else await undoInSteps(session, name, down, clock);
  log.info("migration rolled back", { migration: name });
}

async function undoInSteps(
  session: MigrationSession,
  name: string,
  down: Migration["up"],
  clock: Clock,
): Promise<void> {
  const { records, tables } = session.database;
  await markStarted(records, name, clock);
  const before = session.changes;
  try {
    await down(tables);
  } catch (error) {
    if (isUnchanged(session, before, error)) await markDone(records, name);
    throw error;
  }
  await deleteRecord(records, name);
}

/** True if the migration has failed before its first change. */
function isUnchanged(session: MigrationSession, before: number, error: unknown): boolean {
  return session.changes === before && !(error instanceof UnknownOutcomeError);
}
