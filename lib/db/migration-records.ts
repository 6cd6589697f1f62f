/** The table `framework_migrations`: what was applied, in which order, and with which checksum. */
import type { Kysely } from "kysely";
import type { Clock } from "../runtime/clock.js";

export interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  /** `started` where half of a migration may have been applied. */
  readonly state: "started" | "done";
  readonly position: number;
}

export interface MigrationRecordTables {
  readonly framework_migrations: {
    readonly name: string;
    readonly checksum: string;
    readonly state: string;
    /** A bigint where the driver makes one of every integer. */
    readonly position: number | bigint;
    readonly applied_at: string;
  };
}

export const MIGRATION_TABLE = "framework_migrations";

type Records = Kysely<MigrationRecordTables>;

export async function createRecords(db: Records): Promise<void> {
  await db.schema
    .createTable(MIGRATION_TABLE)
    .ifNotExists()
    .addColumn("name", "varchar(200)", (column) => column.primaryKey())
    .addColumn("checksum", "varchar(64)", (column) => column.notNull())
    .addColumn("state", "varchar(10)", (column) => column.notNull())
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("applied_at", "varchar(30)", (column) => column.notNull())
    .execute();
}

/** In the order in which they were applied. */
export async function readRecords(db: Records): Promise<readonly MigrationRecord[]> {
  const rows = await db.selectFrom(MIGRATION_TABLE).selectAll().orderBy("position").execute();
  return rows.map(({ name, checksum, state, position }) => ({
    name,
    checksum,
    state: state === "done" ? "done" : "started",
    position: Number(position),
  }));
}

export async function insertRecord(
  db: Records,
  record: Omit<MigrationRecord, "position">,
  clock: Clock,
): Promise<void> {
  const applied_at = new Date(clock.now()).toISOString();
  const last = (await readRecords(db)).at(-1)?.position ?? 0;
  await db
    .insertInto(MIGRATION_TABLE)
    .values({ ...record, position: last + 1, applied_at })
    .execute();
}

export async function markDone(db: Records, name: string): Promise<void> {
  await db.updateTable(MIGRATION_TABLE).set({ state: "done" }).where("name", "=", name).execute();
}

export async function markStarted(db: Records, name: string): Promise<void> {
  await db.updateTable(MIGRATION_TABLE).set({ state: "started" }).where("name", "=", name).execute();
}

export async function deleteRecord(db: Records, name: string): Promise<void> {
  await db.deleteFrom(MIGRATION_TABLE).where("name", "=", name).execute();
}
