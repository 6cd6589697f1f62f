/**
 * `db.migrations`: applies and undoes the migrations of a database. Several instances may start at once: a lock lets one of them migrate,
 * and the others see that it is done. A migration that was edited after it ran is refused, and so is one of which half may be applied.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { describeThrown } from "../errors/thrown-value.js";
import { valueText } from "../errors/value-text.js";
import { tracing } from "../tracing/tracing.js";
import { UnknownOutcomeError } from "./database-error.js";
import { checksumOf, loadMigrations, type Migration, type MigrationSource } from "./migration.js";
import {
  completeRecords,
  createRecords,
  deleteRecord,
  insertRecord,
  markDone,
  markStarted,
  type MigrationRecord,
  MIGRATION_TABLE,
  readRecords,
} from "./migration-records.js";
import { inMigrations, refuseInMigrations } from "./migration-flow.js";
import { MigrationSession, type MigrationDatabase } from "./migration-session.js";
import type { Statements } from "./statements.js";

const log = tracing.target("framework::db::migrations");

const LOCK_WAIT_MS = 60_000;

type MigrationSources = readonly (MigrationSource | readonly Migration[])[];

export interface MigrationStatus {
  readonly name: string;
  readonly state: "done" | "pending" | "started" | "edited";
}

export class Migrator {
  constructor(
    private readonly statements: () => Statements,
    private readonly sources: MigrationSources,
    /** Called before anything is awaited, so that its error can name the call. */
    private readonly checkCaller: () => void,
  ) {}

  get isEmpty(): boolean {
    return this.sources.length === 0;
  }

  /** All migrations of the application in their order. @throws FrameworkError `E_DB_MIGRATION_NESTED` */
  async status(): Promise<readonly MigrationStatus[]> {
    const { status } = await this.known();
    return status;
  }

  /**
   * Applies the pending migrations, and returns their names.
   *
   * @throws FrameworkError `E_DB_MIGRATION_EDITED`, `E_DB_MIGRATION_HALF`, `E_DB_MIGRATION_FILE`; `E_DB_MIGRATION_NESTED` inside a migration
   * of the same database; what a migration throws
   */
  async run(): Promise<readonly string[]> {
    this.checkCall();
    const migrations = await loadMigrations(this.sources);
    if (await this.inSession(({ database }) => isUpToDate(database, migrations))) return [];
    return this.locked(async (session) => {
      await this.check(session, migrations);
      const applied: string[] = [];
      for (const migration of migrations) if (await this.apply(session, migration)) applied.push(migration.name);
      return applied;
    });
  }

  /**
   * Undoes the last `count` migrations, the last one first, and returns their names.
   *
   * @throws FrameworkError `E_DB_MIGRATION_DOWN` if one has no `down`, `E_DB_MIGRATION_COUNT`; as `run`
   */
  async rollback(count = 1): Promise<readonly string[]> {
    this.checkCall();
    if (!Number.isSafeInteger(count) || count < 0) throw wrongCount(count);
    const migrations = await loadMigrations(this.sources);
    return this.locked(async (session) => {
      const records = await this.check(session, migrations);
      const undone: string[] = [];
      for (const { name } of records.toReversed().slice(0, count)) {
        await this.undo(session, migrations.find((each) => each.name === name) ?? { name, up: unknownMigration });
        undone.push(name);
      }
      return undone;
    });
  }

  /** @throws FrameworkError `E_DB_PENDING` naming the pending ones; as `run` */
  async throwIfPending(): Promise<void> {
    const { status, records } = await this.known();
    refuse(status, records);
    const pending = status.flatMap(({ name, state }) => (state === "pending" ? [name] : []));
    if (pending.length === 0) return;
    throw new FrameworkError(
      `${this.statements().host.name} lacks ${pending.length} migrations: ${pending.join(", ")}. ` +
        "Call db.migrations.run() before the deployment, or give the database the option { migrate: true }.",
      { code: "E_DB_PENDING" },
    );
  }

  private checkCall(): void {
    this.checkCaller();
    refuseInMigrations(this.statements());
  }

  private async known() {
    this.checkCall();
    const migrations = await loadMigrations(this.sources);
    const records = await this.inSession(({ database }) => recordsOf(database));
    return { records, status: statusOf(migrations, records) };
  }

  private async check(
    session: MigrationSession,
    migrations: readonly Migration[],
  ): Promise<readonly MigrationRecord[]> {
    await createRecords(session.database.records);
    await completeRecords(session.database.records);
    const records = await readRecords(session.database.records);
    refuse(statusOf(migrations, records), records);
    warnOfUnknown(migrations, records);
    return records;
  }

  /** False if another instance has applied it meanwhile. */
  private async apply(session: MigrationSession, migration: Migration): Promise<boolean> {
    const began = this.statements().host.clock.monotonic();
    const isApplied = session.isTransactional(migration)
      ? await session.inTransaction((db) => this.applyWhole(db, migration))
      : await this.applyInSteps(session, migration);
    const elapsed = this.statements().host.clock.monotonic() - began;
    if (isApplied) log.info("migration applied", { migration: migration.name, duration_ms: Math.trunc(elapsed) });
    return isApplied;
  }

  private async applyWhole(db: MigrationDatabase, migration: Migration): Promise<boolean> {
    if (await isRecorded(db.records, migration)) return false;
    await migration.up(db.tables);
    await insertRecord(db.records, recordOf(migration, "done"), this.statements().host.clock);
    return true;
  }

  /** Without a transaction the record says that it began, and later that it is done. */
  private async applyInSteps(session: MigrationSession, migration: Migration): Promise<boolean> {
    const { database: db } = session;
    if (await isRecorded(db.records, migration)) return false;
    await insertRecord(db.records, recordOf(migration, "started"), this.statements().host.clock);
    const before = session.changes;
    try {
      await migration.up(db.tables);
    } catch (error) {
      if (isUnchanged(session, before, error)) await deleteRecord(db.records, migration.name);
      throw error;
    }
    await markDone(db.records, migration.name);
    return true;
  }

  private async undo(session: MigrationSession, migration: Migration): Promise<void> {
    const { name } = migration;
    if (migration.down === undefined) throw withoutDown(name);
    if (session.isTransactional(migration)) {
      await session.inTransaction(async (db) => {
        await migration.down?.(db.tables);
        await deleteRecord(db.records, name);
      });
    } else {
      const { records, tables } = session.database;
      await markStarted(records, name, this.statements().host.clock);
      const before = session.changes;
      try {
        await migration.down(tables);
      } catch (error) {
        if (isUnchanged(session, before, error)) await markDone(records, name);
        throw error;
      }
      await deleteRecord(records, name);
    }
    log.info("migration undone", { migration: name });
  }

  private async locked<T>(work: (session: MigrationSession) => Promise<T>): Promise<T> {
    const statements = this.statements();
    const lock = await statements.driver.lockMigrations(LOCK_WAIT_MS).catch((error: unknown) => {
      throw statements.errorOf(error);
    });
    try {
      return await inMigrations(statements, () => this.inSession(work));
    } finally {
      // The migrations have ended, and their own error counts.
      await lock.release().catch((error: unknown) => {
        log.warn("lock of the migrations was lost", describeThrown(statements.errorOf(error)));
      });
    }
  }

  private async inSession<T>(work: (session: MigrationSession) => Promise<T>): Promise<T> {
    const session = await MigrationSession.open(this.statements());
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }
}

/** True if the migration has failed before its first change. */
function isUnchanged(session: MigrationSession, before: number, error: unknown): boolean {
  return session.changes === before && !(error instanceof UnknownOutcomeError);
}

async function recordsOf(db: MigrationDatabase): Promise<readonly MigrationRecord[]> {
  await createRecords(db.records);
  return readRecords(db.records);
}

/** Most starts find nothing to apply, and need no lock for that. */
async function isUpToDate(db: MigrationDatabase, migrations: readonly Migration[]): Promise<boolean> {
  const records = await recordsOf(db);
  if (statusOf(migrations, records).some(({ state }) => state !== "done")) return false;
  warnOfUnknown(migrations, records);
  return true;
}

/** An older version of the application may start again after a newer one has migrated. */
function warnOfUnknown(migrations: readonly Migration[], records: readonly MigrationRecord[]): void {
  const unknown = records.filter(({ name }) => !migrations.some((each) => each.name === name));
  for (const { name } of unknown) log.warn("applied migration is unknown", { migration: name });
}

async function isRecorded(records: MigrationDatabase["records"], { name }: Migration): Promise<boolean> {
  const all = await readRecords(records);
  return all.some((each) => each.name === name);
}

function recordOf(migration: Migration, state: MigrationRecord["state"]) {
  return { name: migration.name, checksum: checksumOf(migration), state };
}

function stateOf(migration: Migration, records: readonly MigrationRecord[]): MigrationStatus["state"] {
  const record = records.find(({ name }) => name === migration.name);
  if (record === undefined) return "pending";
  if (record.state === "started") return "started";
  return record.checksum === checksumOf(migration) ? "done" : "edited";
}

function statusOf(migrations: readonly Migration[], records: readonly MigrationRecord[]): readonly MigrationStatus[] {
  return migrations.map((migration) => ({ name: migration.name, state: stateOf(migration, records) }));
}

function refuse(status: readonly MigrationStatus[], records: readonly MigrationRecord[]): void {
  for (const { name, state } of status) {
    if (state === "edited") throw edited(name);
    if (state === "started") throw halfApplied(name, records);
  }
}

function edited(name: string): FrameworkError {
  return new FrameworkError(
    `the migration ${name} was edited after it had run: restore its text, and write a new migration for the change`,
    { code: "E_DB_MIGRATION_EDITED" },
  );
}

function halfApplied(name: string, records: readonly MigrationRecord[]): FrameworkError {
  const { at = "", by = "" } = records.find((each) => each.name === name) ?? {};
  return new FrameworkError(
    `the migration ${name} began at ${at}${by === "" ? "" : `, in ${by},`} and did not end, so half of it may be applied. Compare the ` +
      `schema with it. Then delete its row of ${MIGRATION_TABLE} if nothing of it is there, or set state to 'done' if all of it is.`,
    { code: "E_DB_MIGRATION_HALF" },
  );
}

function wrongCount(count: unknown): FrameworkError {
  return new FrameworkError(`${valueText(count)} is not a number of migrations to undo: use a whole number from 0`, {
    code: "E_DB_MIGRATION_COUNT",
  });
}

function withoutDown(name: string): FrameworkError {
  return new FrameworkError(`the migration ${name} cannot be undone: it has no down`, { code: "E_DB_MIGRATION_DOWN" });
}

async function unknownMigration(): Promise<never> {
  throw new Error("a migration that the application does not have");
}
