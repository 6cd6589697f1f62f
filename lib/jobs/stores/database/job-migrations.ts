/**
 * The tables of `DatabaseJobs`. Running and waiting jobs share one table, in which few rows stay; dead jobs leave it. A job waits while its
 * `worker` is null.
 */
import { type JobSqlFamily, toRawStatement, type RawStatement } from "./job-sql.js";

interface ColumnTypes {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly text: string;
  readonly long: string;
  readonly number: string;
  readonly small: string;
}

const TYPES: Readonly<Record<JobSqlFamily, ColumnTypes>> = {
  sqlite: { id: "TEXT", name: "TEXT", hash: "TEXT", text: "TEXT", long: "TEXT", number: "INTEGER", small: "INTEGER" },
  postgres: {
    // Compared byte by byte, so that ids keep their order in every locale.
    id: 'TEXT COLLATE "C"',
    name: "TEXT",
    hash: 'TEXT COLLATE "C"',
    text: "TEXT",
    long: "TEXT",
    number: "BIGINT",
    small: "INTEGER",
  },
  mysql: {
    id: "CHAR(36)",
    name: "VARCHAR(100)",
    hash: "CHAR(64)",
    text: "VARCHAR(512)",
    long: "MEDIUMTEXT",
    number: "BIGINT",
    small: "INTEGER",
  },
};

/** The statements that create the tables, in their order. */
export function jobTables(family: JobSqlFamily): readonly string[] {
  return [...firstTables(family), ...secondTables(family)];
}

/**
 * Released with 0.1, and so it never changes. Three columns have the hash of the name and the key of a job:
 *
 * - `job_key` is set on each job with a key. A search for the job of a key reads it.
 * - `wait_key` is set while such a job waits. It is unique, so at most one job of a key waits.
 * - `hold_key` is set on a job with `unique: "until-done"` while it waits and while it runs. It is unique, so at most one such job of a key
 *   exists.
 */
function firstTables(family: JobSqlFamily): readonly string[] {
  const { id, name, hash, text, long, number, small } = TYPES[family];
  const end = family === "mysql" ? ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : ")";
  const job = [
    `id ${id} NOT NULL PRIMARY KEY`,
    `name ${name} NOT NULL`,
    `queue ${name} NOT NULL`,
    `priority ${small} NOT NULL`,
    `payload ${long} NOT NULL`,
    `max_attempts ${small} NOT NULL`,
    `attempt ${small} NOT NULL DEFAULT 0`,
    `token ${number} NOT NULL DEFAULT 0`,
    `request_id ${text}`,
    `traceparent ${text}`,
    `tracestate ${text}`,
  ].join(", ");
  const unique = family === "postgres" ? "" : " UNIQUE";
  return [
    `CREATE TABLE framework_jobs (${job}, due ${number} NOT NULL, worker ${id}, leased_until ${number}, job_key ${hash}, wait_key ${hash}${unique}, hold_key ${hash}${unique}${end}`,
    ...(family === "postgres" ? KEY_INDEXES : []),
    buildClaimIndex(family, "priority, due, id"),
    `CREATE INDEX framework_jobs_key ON framework_jobs (job_key)${partial(family, "job_key IS NOT NULL")}`,
    ...(family === "mysql"
      ? []
      : ["CREATE INDEX framework_jobs_lease ON framework_jobs (leased_until) WHERE worker IS NOT NULL"]),
    `CREATE TABLE framework_dead_jobs (${job}, reason ${long} NOT NULL, died_at ${number} NOT NULL${end}`,
    "CREATE INDEX framework_dead_jobs_death ON framework_dead_jobs (died_at)",
    `CREATE TABLE framework_job_workers (id ${id} NOT NULL PRIMARY KEY, beat_at ${number} NOT NULL${end}`,
    `CREATE TABLE framework_job_ticks (name ${name} NOT NULL, due ${number} NOT NULL, PRIMARY KEY (name, due)${end}`,
  ];
}

/**
 * `slot_key` names the slot of a concurrency key that a claimed job uses. It is unique, so each slot has at most one job
 * (`concurrency-slots.ts`).
 *
 * During a deploy, processes of the previous version use these tables too, so columns are added and no column is renamed. A worker whose
 * new columns are null has the previous version.
 */
function secondTables(family: JobSqlFamily): readonly string[] {
  const { name, text, long, number, hash, small } = TYPES[family];
  const end = family === "mysql" ? ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : ")";
  const concurrency = [`concurrency_key ${hash}`, `concurrency_limit ${small}`];
  const marks = [`unhandled_since ${number}`, `cancel_asked ${number}`, `started_token ${number}`];
  return [
    ...[...marks, ...concurrency, `slot_key ${hash}`].map(
      (column) => `ALTER TABLE framework_jobs ADD COLUMN ${column}`,
    ),
    ...concurrency.map((column) => `ALTER TABLE framework_dead_jobs ADD COLUMN ${column}`),
    ...[`names ${long}`, `queues ${long}`].map((column) => `ALTER TABLE framework_job_workers ADD COLUMN ${column}`),
    `CREATE TABLE framework_job_queues (queue ${name} NOT NULL PRIMARY KEY, paused_at ${number} NOT NULL, paused_by ${text} NOT NULL${end}`,
    `CREATE INDEX framework_jobs_unhandled ON framework_jobs (unhandled_since)${partial(family, "unhandled_since IS NOT NULL")}`,
    `CREATE INDEX framework_jobs_concurrency ON framework_jobs (concurrency_key, due)${partial(family, "concurrency_key IS NOT NULL")}`,
    `CREATE UNIQUE INDEX framework_jobs_slot ON framework_jobs (slot_key)${partial(family, "slot_key IS NOT NULL")}`,
    // The index gets its old name again, because processes of the previous version name it in their statements.
    family === "mysql" ? "DROP INDEX framework_jobs_turn ON framework_jobs" : "DROP INDEX framework_jobs_turn",
    buildClaimIndex(family, "queue, priority, due, id"),
    ...(family === "mysql"
      ? []
      : ["CREATE INDEX framework_jobs_cancelled ON framework_jobs (worker) WHERE cancel_asked IS NOT NULL"]),
  ];
}

/** Without a condition, PostgreSQL would write an index entry for each null too, and again at each claim. */
const KEY_INDEXES = ["wait_key", "hold_key"].map(
  (key) => `CREATE UNIQUE INDEX framework_jobs_${key} ON framework_jobs (${key}) WHERE ${key} IS NOT NULL`,
);

/** The index has only the waiting jobs, in the order of the claims. */
function buildClaimIndex(family: JobSqlFamily, order: string): string {
  const columns = family === "mysql" ? `worker, ${order}` : order;
  return `CREATE INDEX framework_jobs_turn ON framework_jobs (${columns})${partial(family, "worker IS NULL")}`;
}

function partial(family: JobSqlFamily, condition: string): string {
  return family === "mysql" ? "" : ` WHERE ${condition}`;
}

/** The part of Kysely that the migration uses. */
export interface MigratedDatabase {
  getExecutor(): {
    readonly adapter: { readonly supportsReturning: boolean; readonly supportsTransactionalDdl: boolean };
  };
  executeQuery(statement: RawStatement): Promise<unknown>;
}

export interface JobMigration {
  readonly name: string;
  up(db: MigratedDatabase): Promise<void>;
}

/** The migrations that create the tables, for the list of migrations of a database. Their names never change. */
export const jobsMigrations: readonly JobMigration[] = [
  migration("framework_jobs", firstTables),
  migration("framework_jobs_2", secondTables),
];

function migration(name: string, tables: (family: JobSqlFamily) => readonly string[]): JobMigration {
  return Object.freeze({
    name,
    async up(db: MigratedDatabase): Promise<void> {
      for (const statement of tables(getFamily(db))) await db.executeQuery(toRawStatement(statement));
    },
  });
}

/** A Kysely database does not name its family. The adapters of the three families differ in these two features. */
function getFamily(db: MigratedDatabase): JobSqlFamily {
  const { supportsReturning, supportsTransactionalDdl } = db.getExecutor().adapter;
  if (!supportsReturning) return "mysql";
  return supportsTransactionalDdl ? "postgres" : "sqlite";
}
