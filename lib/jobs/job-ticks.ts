/** The ticks of schedules in the tables: a row for each, which one of several processes adds, together with the job of the tick. */
import { insertJobs } from "./insert-jobs.js";
import { type JobSql, literal } from "./job-sql.js";
import type { NewJob } from "./job-store.js";

const TICKS_KEPT_MS = 2_678_400_000;

export interface Tick {
  readonly schedule: string;
  readonly due: number;
  /** Absent: the tick was missed, and no job runs. */
  readonly job: NewJob | undefined;
}

/** Returns false if this tick or a later one is recorded already. */
export function recordTick(sql: JobSql, { schedule, due, job }: Tick): Promise<boolean> {
  return sql.database.transaction(async () => {
    const { affected } = await sql.run(insertTick(sql, literal(due)), [schedule, schedule]);
    if (affected === 0) return false;
    if (job !== undefined) await insertJobs(sql, [job]);
    const oldest = literal(due - TICKS_KEPT_MS);
    await sql.run(`DELETE FROM framework_job_ticks WHERE name = ? AND due < ${oldest}`, [schedule]);
    return true;
  });
}

export async function lastTick(sql: JobSql, schedule: string): Promise<number | undefined> {
  const { rows } = await sql.run("SELECT MAX(due) AS due FROM framework_job_ticks WHERE name = ?", [schedule]);
  const due = rows[0]?.["due"];
  return due === null || due === undefined ? undefined : Number(due);
}

function insertTick({ dialect }: JobSql, due: string): string {
  const later = `SELECT 1 FROM framework_job_ticks WHERE name = ? AND due >= ${due}`;
  if (dialect === "mysql")
    return `INSERT IGNORE INTO framework_job_ticks (name, due) SELECT ?, ${due} FROM DUAL WHERE NOT EXISTS (${later})`;
  const name = dialect === "postgres" ? "CAST(? AS text)" : "?";
  return `INSERT INTO framework_job_ticks (name, due) SELECT ${name}, ${due} WHERE NOT EXISTS (${later}) ON CONFLICT DO NOTHING`;
}
