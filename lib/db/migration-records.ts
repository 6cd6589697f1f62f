/** The table `framework_migrations`: what was applied, in which order, and with which checksum. */
import { hostname } from "node:os";
import type { Kysely } from "kysely";
import type { Clock } from "../runtime/clock.js";

export interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  /** `started` where half of a migration may have been applied. */
  readonly state: "started" | "done";
  readonly position: number;
  /** When it began: a date and time of ISO 8601. */
  readonly at: string;
  /** `process 4711 on web-1`; empty in a table of an older version. */
  readonly by: string;
}

export interface MigrationRecordTables {
  readonly framework_migrations: {
    readonly name: string;
    readonly checksum: string;
    readonly state: string;
    /** A bigint where the driver makes one of every integer. */
    readonly position: number | bigint;
    readonly applied_at: string;
    /** Absent in a table of an older version, until the next run. */
    readonly applied_by?: string | null;
  };
}

export const MIGRATION_TABLE = "framework_migrations";

const MAX_BY_LENGTH = 200;
const APPLIED_BY = `varchar(${MAX_BY_LENGTH})` as const;

type Records = Kysely<MigrationRecordTables>;

/**
 * Outside of a transaction. A read-only server refuses the statement, and so does one whose role may not create tables; PostgreSQL fails
 * where another process makes the table at the same moment. What counts is that the table is there.
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
  await db.schema
    .createTable(MIGRATION_TABLE)
    .ifNotExists()
    .addColumn("name", "varchar(200)", (column) => column.primaryKey())
    .addColumn("checksum", "varchar(64)", (column) => column.notNull())
    .addColumn("state", "varchar(10)", (column) => column.notNull())
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("applied_at", "varchar(30)", (column) => column.notNull())
    .addColumn("applied_by", APPLIED_BY)
    .execute();
}

/** Adds the column that a table of an older version lacks. Outside of a transaction. */
export async function completeRecords(db: Records): Promise<void> {
  if (await isComplete(db)) return;
  await db.schema.alterTable(MIGRATION_TABLE).addColumn("applied_by", APPLIED_BY).execute();
}

function isComplete(db: Records): Promise<boolean> {
  // With the name of the table: SQLite may read an unknown quoted name alone as a text.
  const query = db.selectFrom(MIGRATION_TABLE).select(`${MIGRATION_TABLE}.applied_by`).limit(1);
  return query.execute().then(
    () => true,
    () => false,
  );
}

/** In the order in which they were applied. */
export async function readRecords(db: Records): Promise<readonly MigrationRecord[]> {
  const rows = await db.selectFrom(MIGRATION_TABLE).selectAll().orderBy("position").execute();
  return rows.map(({ name, checksum, state, position, applied_at, applied_by }) => ({
    name,
    checksum,
    state: state === "done" ? "done" : "started",
    position: Number(position),
    at: applied_at,
    by: applied_by ?? "",
  }));
}

export async function insertRecord(
  db: Records,
  record: Pick<MigrationRecord, "name" | "checksum" | "state">,
  clock: Clock,
): Promise<void> {
  const last = (await readRecords(db)).at(-1)?.position ?? 0;
  await db
    .insertInto(MIGRATION_TABLE)
    .values({ ...record, position: last + 1, ...nowHere(clock) })
    .execute();
}

export async function markDone(db: Records, name: string): Promise<void> {
  await db.updateTable(MIGRATION_TABLE).set({ state: "done" }).where("name", "=", name).execute();
}

export async function markStarted(db: Records, name: string, clock: Clock): Promise<void> {
  await db
    .updateTable(MIGRATION_TABLE)
    .set({ state: "started", ...nowHere(clock) })
    .where("name", "=", name)
    .execute();
}

export async function deleteRecord(db: Records, name: string): Promise<void> {
  await db.deleteFrom(MIGRATION_TABLE).where("name", "=", name).execute();
}

function nowHere(clock: Clock) {
  const applied_by = `process ${process.pid} on ${hostname()}`.slice(0, MAX_BY_LENGTH);
  return { applied_at: new Date(clock.now()).toISOString(), applied_by };
}
