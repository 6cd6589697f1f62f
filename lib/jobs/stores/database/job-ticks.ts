/**
 * The ticks of schedules in the tables. One of several processes adds the row of a tick, together with its job.
 *
 * A clock that jumps forward records a tick of the future. After the jump back, that tick must not suppress its schedule until its time has
 * come.
 */
import { insertJobs } from "./insert-jobs.js";
import { type JobSql, literal } from "./job-sql.js";
import type { NewJob } from "../../job-store.js";

const TICK_RETENTION_MS = 2_678_400_000;
/** A recorded tick that is further ahead of the clock than this does not count: the clock was wrong when it was recorded. */
export const MAX_AHEAD_MS = 3_600_000;

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
    const others = `due < ${literal(due - TICK_RETENTION_MS)} OR due > ${selectLatest(sql)}`;
    await sql.run(`DELETE FROM framework_job_ticks WHERE name = ? AND (${others})`, [schedule]);
    return true;
  });
}

export async function readLastTick(sql: JobSql, schedule: string): Promise<number | undefined> {
  const recorded = `SELECT MAX(due) AS due FROM framework_job_ticks WHERE name = ? AND due <= ${selectLatest(sql)}`;
  const { rows } = await sql.run(recorded, [schedule]);
  const due = rows[0]?.["due"];
  return due === null || due === undefined ? undefined : Number(due);
}

/** The time of the last tick that counts. It is a subquery, so that PostgreSQL reads the clock once and finds the time in the index. */
function selectLatest({ now }: JobSql): string {
  return `(SELECT ${now} + ${MAX_AHEAD_MS})`;
}

function insertTick(sql: JobSql, due: string): string {
  const { family } = sql;
  const later = `SELECT 1 FROM framework_job_ticks WHERE name = ? AND due >= ${due} AND due <= ${selectLatest(sql)}`;
  if (family === "mysql")
    return `INSERT IGNORE INTO framework_job_ticks (name, due) SELECT ?, ${due} FROM DUAL WHERE NOT EXISTS (${later})`;
  const name = family === "postgres" ? "CAST(? AS text)" : "?";
  return `INSERT INTO framework_job_ticks (name, due) SELECT ${name}, ${due} WHERE NOT EXISTS (${later}) ON CONFLICT DO NOTHING`;
}
