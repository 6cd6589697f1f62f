/**
 * `db.migrations`: applies and undoes the migrations of a database. Several instances may start at once: one of them migrates under a lock,
 * and the others wait for it. A migration that was edited after its run is refused, and so is one that may be half applied.
 */
import { checkOptionNames } from "../../errors/option-names.js";
import { describeThrown } from "../../errors/thrown-value.js";
import { untilAborted } from "../../runtime/abortable.js";
import { tracing } from "../../tracing/tracing.js";
import type { MigrationLock } from "../driver.js";
import type { Migration } from "./migration.js";
import { notAppliedError, pendingError, countError, reasonError, stoppedError } from "./migration-errors.js";
import { loadMigrations, getMigration, type MigrationSource } from "./migration-list.js";
import { acceptEdit, completeRecords, createRecords, type MigrationRecord, readRecords } from "./migration-records.js";
import { applyMigration, undoMigration } from "./migration-steps.js";
import { inMigrations, refuseInMigrations } from "./migration-flow.js";
import { type MigrationDatabase, MigrationSession, previewStatements } from "./migration-session.js";
import {
  getDetails,
  type MigrationDetails,
  type MigrationStatus,
  findRecord,
  refuseEdits,
  getStatus,
  warnIfLate,
  warnOfUnknown,
} from "./migration-status.js";
import type { Statements } from "../statements.js";

const log = tracing.target("framework::db::migrations");

const LOCK_WAIT_MS = 60_000;

type MigrationSources = readonly (MigrationSource | readonly Migration[])[];

export interface MigrateOptions {
  /** The last migration of the list to apply. All unless set. */
  readonly to?: string;
  /**
   * Stops the run. A migration in a transaction is cancelled and rolled back; one without is applied to its end, because a half of it
   * would remain. The wait for the lock ends at once.
   */
  readonly signal?: AbortSignal;
}

export interface RollbackOptions {
  /** The last applied migration that stays: all later ones are rolled back. */
  readonly to: string;
}

export class Migrator {
  constructor(
    private readonly statements: () => Statements,
    private readonly sources: MigrationSources,
    /** Called before the first await, so that its error can name the call. */
    private readonly checkCaller: () => void,
  ) {}

  get isEmpty(): boolean {
    return this.sources.length === 0;
  }

  /** All migrations of the application in their order. A file of SQLite that does not exist is not created. @throws FrameworkError `E_DB_MIGRATION_NESTED` */
  async status(): Promise<readonly MigrationStatus[]> {
    const { migrations, records } = await this.loadWithRecords();
    return getStatus(migrations, records);
  }

  /** The record of a migration in the database. @throws FrameworkError `E_DB_MIGRATION_NAME`; as `status` */
  async show(name: string): Promise<MigrationDetails> {
    const { migrations, records } = await this.loadWithRecords();
    return getDetails(getMigration(migrations, name), records);
  }

  /**
   * The statements that `up` of this migration sends now, to compare with those of `show`. It runs without a database: no statement is
   * executed, and each returns no rows.
   *
   * @throws FrameworkError `E_DB_MIGRATION_NAME`; the error of the migration
   */
  async preview(name: string): Promise<readonly string[]> {
    this.checkCall();
    const { up } = getMigration(await this.load(), name);
    return inMigrations(this.statements(), () => previewStatements(this.statements().driver.dialect, up));
  }

  /**
   * Applies the pending migrations, and returns their names.
   *
   * @throws FrameworkError `E_DB_MIGRATION_EDITED`, `E_DB_MIGRATION_HALF`, `E_DB_MIGRATION_FILE`; `E_DB_MIGRATION_NAME` if `to` is none;
   * `E_DB_MIGRATION_NESTED` inside a migration of the same database; `E_DB_MIGRATION_STOPPED` if the signal aborts before the last
   * migration is applied; the error of a migration
   */
  async run(options: MigrateOptions = {}): Promise<readonly string[]> {
    this.checkCall();
    checkOptionNames<MigrateOptions>(options, { to: true, signal: true }, "db.migrations.run");
    const all = await this.load();
    const wanted = options.to === undefined ? all : all.slice(0, all.indexOf(getMigration(all, options.to)) + 1);
    if (await this.withSession(({ database }) => isUpToDate(database, wanted, all))) return [];
    return this.untilStopped("applied", options, async (session, applied) => {
      const records = await this.check(session, all);
      for (const migration of wanted) {
        if (findRecord(migration, records) !== undefined) continue;
        options.signal?.throwIfAborted();
        warnIfLate(migration, all, records);
        await applyMigration(session, migration, this.statements().host.clock, options.signal);
        applied.push(migration.name);
      }
    });
  }

  /**
   * Undoes the last `count` migrations, or all that were applied after a given one, in reverse order, and returns their names. The signal
   * stops it as it stops `run`.
   *
   * @throws FrameworkError `E_DB_MIGRATION_DOWN` if one has no `down`, `E_DB_MIGRATION_COUNT`, `E_DB_MIGRATION_NAME`; as `run`
   */
  async rollback(
    count: number | RollbackOptions = 1,
    options: Pick<MigrateOptions, "signal"> = {},
  ): Promise<readonly string[]> {
    this.checkCall();
    checkOptionNames<typeof options>(options, { signal: true }, "db.migrations.rollback");
    if (typeof count === "object") checkOptionNames<RollbackOptions>(count, { to: true }, "db.migrations.rollback");
    else if (!Number.isSafeInteger(count) || count < 0) throw countError(count);
    const migrations = await this.load();
    return this.untilStopped("undone", options, async (session, names) => {
      const records = await this.check(session, migrations);
      for (const { name } of getLastRecords(records, count)) {
        options.signal?.throwIfAborted();
        const migration = migrations.find((each) => each.name === name) ?? { name, up: unknownMigration };
        await undoMigration(session, migration, this.statements().host.clock, options.signal);
        names.push(name);
      }
    });
  }

  /**
   * Accepts the edit of an applied migration, where the edit is intended and does not change the schema. The database stores the process
   * that accepted it, the time and the reason.
   *
   * @param reason 1 to 500 characters
   * @throws FrameworkError `E_DB_MIGRATION_NAME` for a migration that is not applied, `E_DB_MIGRATION_REASON`
   */
  async accept(name: string, reason: string): Promise<void> {
    this.checkCall();
    if (typeof reason !== "string" || !/^(?=\s*\S)[^]{1,500}$/.test(reason)) throw reasonError();
    const migration = getMigration(await this.load(), name);
    await this.withLock(async ({ database: { records: db } }) => {
      await createRecords(db);
      await completeRecords(db);
      const record = findRecord(migration, await readRecords(db));
      if (record?.state !== "done") throw notAppliedError(name);
      await acceptEdit(db, record, migration, reason, this.statements().host.clock);
    });
    log.info("edit of a migration accepted", { migration: name });
  }

  /**
   * Drops all tables, views and other objects of the schema with their rows, for the command `db:fresh`. The migrations are read first, so that
   * a list that cannot be read drops nothing. Returns the number of dropped objects.
   *
   * @throws as `run`; DatabaseError of the kind `busy` while another process uses a table @internal
   */
  async dropAll(): Promise<number> {
    this.checkCall();
    await this.load();
    return this.withLock((session) => session.dropAll());
  }

  /** @throws FrameworkError `E_DB_PENDING` with the names of the pending ones; as `run` */
  async throwIfPending(): Promise<void> {
    const { migrations, records } = await this.loadWithRecords();
    refuseEdits(migrations, records);
    warnOfUnknown(migrations, records);
    const pending = getStatus(migrations, records).flatMap(({ name, state }) => (state === "pending" ? [name] : []));
    if (pending.length === 0) return;
    throw pendingError(this.statements().host.name, pending);
  }

  private checkCall(): void {
    this.checkCaller();
    refuseInMigrations(this.statements());
  }

  private load(): Promise<readonly Migration[]> {
    return loadMigrations(this.sources, this.statements().driver.dialect.family);
  }

  private async loadWithRecords() {
    this.checkCall();
    const migrations = await this.load();
    const isAbsent = await this.statements().driver.isAbsent?.();
    const records = isAbsent ? [] : await this.withSession(({ database }) => loadRecords(database));
    return { migrations, records };
  }

  private async check(
    session: MigrationSession,
    migrations: readonly Migration[],
  ): Promise<readonly MigrationRecord[]> {
    await createRecords(session.database.records);
    await completeRecords(session.database.records);
    const records = await readRecords(session.database.records);
    refuseEdits(migrations, records);
    warnOfUnknown(migrations, records);
    return records;
  }

  /** Returns the names that `work` adds. @throws FrameworkError `E_DB_MIGRATION_STOPPED` */
  private async untilStopped(
    done: "applied" | "undone",
    { signal }: Pick<MigrateOptions, "signal">,
    work: (session: MigrationSession, names: string[]) => Promise<void>,
  ): Promise<readonly string[]> {
    const names: string[] = [];
    try {
      await this.withLock((session) => work(session, names), signal);
    } catch (error) {
      throw signal?.aborted === true && error === signal.reason ? stoppedError(done, names, error) : error;
    }
    return names;
  }

  private async withLock<T>(work: (session: MigrationSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const statements = this.statements();
    const lock = await this.takeLock(signal).catch((error: unknown) => {
      throw statements.translateError(error, signal);
    });
    try {
      return await inMigrations(statements, () => this.withSession(work));
    } finally {
      // The migrations have ended, and the caller gets only their error.
      await lock.release().catch((error: unknown) => {
        log.warn("lock of the migrations was lost", describeThrown(statements.translateError(error)));
      });
    }
  }

  /** The signal ends the wait. A lock that is taken later is released at once. */
  private async takeLock(signal: AbortSignal | undefined): Promise<MigrationLock> {
    signal?.throwIfAborted();
    const taking = this.statements().driver.lockMigrations(LOCK_WAIT_MS);
    if (signal === undefined) return taking;
    try {
      return await untilAborted(taking, signal);
    } catch (error) {
      // The caller gets the first error.
      if (signal.aborted) taking.then((lock) => lock.release()).catch(() => {});
      throw error;
    }
  }

  private async withSession<T>(work: (session: MigrationSession) => Promise<T>): Promise<T> {
    const session = await MigrationSession.open(this.statements());
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }
}

async function loadRecords(db: MigrationDatabase): Promise<readonly MigrationRecord[]> {
  await createRecords(db.records);
  return readRecords(db.records);
}

/** Most starts have no migration to apply, and this check needs no lock. */
async function isUpToDate(
  db: MigrationDatabase,
  wanted: readonly Migration[],
  all: readonly Migration[],
): Promise<boolean> {
  const records = await loadRecords(db);
  const isDone = ({ name, state }: MigrationStatus): boolean =>
    state === "done" || (state === "pending" && !wanted.some((each) => each.name === name));
  // Another instance may be applying a migration that has started.
  if (!getStatus(all, records).every(isDone)) return false;
  warnOfUnknown(all, records);
  return true;
}

/** In reverse order. @throws FrameworkError `E_DB_MIGRATION_NAME` */
function getLastRecords(
  records: readonly MigrationRecord[],
  count: number | RollbackOptions,
): readonly MigrationRecord[] {
  if (typeof count === "number") return records.toReversed().slice(0, count);
  const index = records.findIndex(({ name }) => name === count.to);
  if (index < 0) throw notAppliedError(count.to);
  return records.slice(index + 1).toReversed();
}

async function unknownMigration(): Promise<never> {
  throw new Error("a migration that the application does not have");
}
