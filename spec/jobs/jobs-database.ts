/** A database with the tables of jobs, prepared with a clock of the spec. */
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import type { PoolFigures } from "../../lib/db/pool/pool-report.js";
import { Metrics } from "@stagecraft/framework/observe";
import { type Clock, SystemClock } from "@stagecraft/framework";
import { jobsMigrations } from "../../lib/jobs/stores/database/job-migrations.js";
import { JobSql } from "../../lib/jobs/stores/database/job-sql.js";

export class JobsDatabase extends Database<Record<string, never>> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export async function jobsDatabase(driver: DatabaseDriver, clock: Clock): Promise<JobsDatabase> {
  const db = new JobsDatabase(driver);
  db.prepare({ name: "database", clock, metrics: new Metrics() });
  await db.start();
  return db;
}

export async function makeTables(db: JobsDatabase): Promise<void> {
  const sql = new JobSql(db);
  for (const table of [
    "framework_jobs",
    "framework_dead_jobs",
    "framework_job_workers",
    "framework_job_ticks",
    "framework_job_queues",
  ])
    await sql.run(`DROP TABLE IF EXISTS ${table}`);
  for (const migration of jobsMigrations) await migration.up(db.query);
}

/** Advances the clock in small steps. Between them the statements that `server` has begun end, however long they take. */
export async function passSlowly(
  clock: { advance(ms: number): void },
  ms: number,
  server?: JobsDatabase,
): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    clock.advance(Math.min(STEP_MS, ms - passed));
    do await new Promise((resolve) => setTimeout(resolve, 1));
    while (isBusy(server));
  }
}

function isBusy(server: JobsDatabase | undefined): boolean {
  if (server === undefined) return false;
  // The pool of a driver is private.
  const { inUse, waiting } = (server.driver as unknown as { readonly pool: { readonly figures: PoolFigures } }).pool
    .figures;
  return inUse + waiting > 0;
}

const STEP_MS = 100;

/** Makes the tables in a database that another process, or an application, opens afterwards. */
export async function startedTables(driver: DatabaseDriver): Promise<void> {
  await using db = await jobsDatabase(driver, new SystemClock());
  await makeTables(db);
}
