/** The table `framework_migrations`: the applied migrations in their order, with their checksums and statements. */
import { hostname } from "node:os";
import type { Kysely } from "kysely";
import type { Clock } from "../../runtime/clock.js";
import { toAsciiJson } from "./executed-statements.js";
import type { Migration } from "./migration.js";

export interface MigrationRecord {
  readonly name: string;
  /** See `toRecordedChecksum`. */
  readonly checksum: string;
  /** `started` where a part of a migration may have been applied. */
  readonly state: "started" | "done";
  readonly position: number;
  /** The start: a date and time of ISO 8601. */
  readonly at: string;
  /** `process 4711 on web-1`; empty in a table of an older version. */
  readonly by: string;
  /** The executed statements without binds; empty in a table of an older version. */
  readonly statements: readonly string[];
  readonly durationMs: number | undefined;
  readonly accepted: readonly AcceptedEdit[];
}

/** An edit of an applied migration that `accept` has allowed. */
export interface AcceptedEdit {
  /** A date and time of ISO 8601. */
  readonly at: string;
  /** `process 4711 on web-1` */
  readonly by: string;
  readonly reason: string;
}

export interface MigrationRecordTables {
  readonly framework_migrations: {
    readonly name: string;
    readonly checksum: string;
    readonly state: string;
    /** A bigint where the driver returns every integer as one. */
    readonly position: number | bigint;
    readonly applied_at: string;
    /** This column and those below are absent in a table of an older version, until the next run. */
    readonly applied_by?: string | null;
    readonly duration_ms?: number | bigint | null;
    readonly statements?: string | null;
    readonly accepted?: string | null;
  };
}

export const MIGRATION_TABLE = "framework_migrations";

const MAX_BY_LENGTH = 200;

/** The columns that a table of an older version lacks. */
const LATER_COLUMNS = [
  ["applied_by", `varchar(${MAX_BY_LENGTH})`],
  ["duration_ms", "integer"],
  ["statements", "text"],
  ["accepted", "text"],
] as const;

type Records = Kysely<MigrationRecordTables>;

/**
 * Outside of a transaction. The statement fails on a read-only server, for a role that may not create tables, and on PostgreSQL where
 * another process creates the table at the same moment. Each of these is no failure if the table exists.
 */
export async function createRecords(db: Records): Promise<void> {
  try {
    await createTable(db);
  } catch (error) {
    await readRecords(db).catch(() => {
      throw error;
    });
  }
}

async function createTable(db: Records): Promise<void> {
  const table = db.schema
    .createTable(MIGRATION_TABLE)
    .ifNotExists()
    .addColumn("name", "varchar(200)", (column) => column.primaryKey())
    .addColumn("checksum", "varchar(64)", (column) => column.notNull())
    .addColumn("state", "varchar(10)", (column) => column.notNull())
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("applied_at", "varchar(30)", (column) => column.notNull());
  await LATER_COLUMNS.reduce((all, [name, type]) => all.addColumn(name, type), table).execute();
}

/** Adds the columns that a table of an older version lacks. Outside of a transaction. */
export async function completeRecords(db: Records): Promise<void> {
  for (const [name, type] of LATER_COLUMNS)
    if (!(await hasColumn(db, name))) await db.schema.alterTable(MIGRATION_TABLE).addColumn(name, type).execute();
}

function hasColumn(db: Records, name: (typeof LATER_COLUMNS)[number][0]): Promise<boolean> {
  // With the name of the table: SQLite may read an unknown quoted name without it as a text.
  const query = db.selectFrom(MIGRATION_TABLE).select(`${MIGRATION_TABLE}.${name}`).limit(1);
  return query.execute().then(
    () => true,
    () => false,
  );
}

/** In the order in which they were applied. */
export async function readRecords(db: Records): Promise<readonly MigrationRecord[]> {
  const rows = await db.selectFrom(MIGRATION_TABLE).selectAll().orderBy("position").execute();
  return rows.map(({ name, checksum, state, position, applied_at, applied_by, duration_ms, statements, accepted }) => ({
    name,
    checksum,
    state: state === "done" ? "done" : "started",
    position: Number(position),
    at: applied_at,
    by: applied_by ?? "",
    durationMs: duration_ms === null || duration_ms === undefined ? undefined : Number(duration_ms),
    // The columns have the JSON that this file has written.
    statements: JSON.parse(statements ?? "[]") as readonly string[],
    accepted: JSON.parse(accepted ?? "[]") as readonly AcceptedEdit[],
  }));
}

/** The work of a migration. */
export interface MigrationWork {
  readonly durationMs: number;
  readonly statements: readonly string[];
}

/** @param work `undefined` at the start of a migration outside of a transaction */
export async function insertRecord(
  db: Records,
  migration: Migration,
  clock: Clock,
  work: MigrationWork | undefined,
): Promise<void> {
  const last = (await readRecords(db)).at(-1)?.position ?? 0;
  const checksum = toRecordedChecksum(migration);
  const state = work === undefined ? "started" : "done";
  await db
    .insertInto(MIGRATION_TABLE)
    .values({
      name: migration.name,
      checksum,
      state,
      position: last + 1,
      ...createStamp(clock),
      ...(work && toColumns(work)),
    })
    .execute();
}

export async function markDone(db: Records, name: string): Promise<void> {
  await db.updateTable(MIGRATION_TABLE).set({ state: "done" }).where("name", "=", name).execute();
}

/** Stores the statements of a migration without a transaction. */
export async function recordWork(db: Records, name: string, work: MigrationWork): Promise<void> {
  await db.updateTable(MIGRATION_TABLE).set(toColumns(work)).where("name", "=", name).execute();
}

export async function markStarted(db: Records, name: string, clock: Clock): Promise<void> {
  await db
    .updateTable(MIGRATION_TABLE)
    .set({ state: "started", ...createStamp(clock) })
    .where("name", "=", name)
    .execute();
}

export async function deleteRecord(db: Records, name: string): Promise<void> {
  await db.deleteFrom(MIGRATION_TABLE).where("name", "=", name).execute();
}

/** Records the current checksum of the migration, so that it is no longer edited. */
export async function acceptEdit(
  db: Records,
  record: MigrationRecord,
  migration: Migration,
  reason: string,
  clock: Clock,
): Promise<void> {
  const { applied_at: at, applied_by: by } = createStamp(clock);
  const accepted = toAsciiJson([...record.accepted, { at, by, reason }]);
  await db
    .updateTable(MIGRATION_TABLE)
    .set({ checksum: toRecordedChecksum(migration), accepted })
    .where("name", "=", record.name)
    .execute();
}

/**
 * A migration without a checksum is never edited. Older versions hashed the texts of the functions, which a compiler changes. Their
 * checksums have no mark, and are not compared any more.
 */
export function isEdited(migration: Migration, { checksum }: MigrationRecord): boolean {
  return migration.checksum !== undefined && checksum.startsWith(MARK) && checksum !== toRecordedChecksum(migration);
}

/** The version of the checksums; another algorithm gets another mark. */
const MARK = "2:";

function toRecordedChecksum({ checksum }: Migration): string {
  return checksum === undefined ? "" : `${MARK}${checksum}`;
}

function toColumns({ durationMs, statements }: MigrationWork) {
  return { duration_ms: Math.trunc(durationMs), statements: toAsciiJson(statements) };
}

function createStamp(clock: Clock) {
  const applied_by = `process ${process.pid} on ${hostname()}`.slice(0, MAX_BY_LENGTH);
  return { applied_at: new Date(clock.now()).toISOString(), applied_by };
}
