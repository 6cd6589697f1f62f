/**
 * The rows of the living worker processes: a heartbeat each, with the names of the jobs and the queues that the process works on. They show
 * which jobs no living worker has a handler for. `dead-workers.ts` decides about the jobs of a worker whose heartbeats are missing.
 */
import { getConcurrency } from "./concurrency-slots.js";
import { type JobRow, type JobSql } from "./job-sql.js";
import { moveToDead } from "./claimed-jobs.js";
import {
  type Heartbeat,
  type JobClaim,
  type LiveWorker,
  MAX_COUNTED,
  type ReapedJob,
  UNHANDLED,
} from "../../job-store.js";

/** The maximum number of jobs that one call of `reap` takes for each reason. */
export const MAX_REAPED = 500;
const MAX_UNHANDLED_MS = 86_400_000;

export async function recordHeartbeat(sql: JobSql, { id, names, queues }: LiveWorker): Promise<Heartbeat> {
  const { now } = sql;
  const { affected } = await sql.run(`UPDATE framework_job_workers SET beat_at = ${now} WHERE id = ?`, [id]);
  // MySQL does not count an unchanged row, as at a second heartbeat in one millisecond.
  if (affected > 0 || (await isRecorded(sql, id))) return { isKnown: true, cancelled: await listCancelled(sql, id) };
  await sql.run(`INSERT INTO framework_job_workers (id, beat_at, names, queues) VALUES (?, ${now}, ?, ?)`, [
    id,
    JSON.stringify(names),
    queues === undefined ? null : JSON.stringify(queues),
  ]);
  return { isKnown: false, cancelled: [] };
}

async function isRecorded(sql: JobSql, id: string): Promise<boolean> {
  return (await sql.run("SELECT id FROM framework_job_workers WHERE id = ?", [id])).rows.length > 0;
}

async function listCancelled(sql: JobSql, worker: string): Promise<readonly JobClaim[]> {
  const asked = "SELECT id, token FROM framework_jobs WHERE cancel_asked IS NOT NULL AND worker = ?";
  return (await sql.run(asked, [worker])).rows.map(toClaim);
}

/** The claims of one worker. */
export async function listClaims(sql: JobSql, worker: string): Promise<readonly JobClaim[]> {
  // The condition on the time lets the engines use the index of the running jobs.
  const claimed =
    "SELECT id, token, concurrency_key, concurrency_limit FROM framework_jobs WHERE worker = ? AND leased_until > 0";
  return (await sql.run(claimed, [worker])).rows.map(toClaim);
}

/** Dead-letters the jobs that have waited for a handler for a day, and that no living worker handles. */
export async function deadLetterUnhandled(sql: JobSql): Promise<readonly ReapedJob[]> {
  const long = `worker IS NULL AND unhandled_since < ${sql.now} - ${MAX_UNHANDLED_MS}`;
  const { rows } = await sql.run(
    `SELECT id, name, queue, attempt FROM framework_jobs WHERE ${long} LIMIT ${MAX_REAPED}`,
  );
  if (rows.length === 0) return [];
  const workers = (await sql.run("SELECT names, queues FROM framework_job_workers")).rows;
  const dead: ReapedJob[] = [];
  for (const job of rows.map(toNamedJob).filter((each) => !workers.some((worker) => handles(worker, each))))
    if (await deadLetterOne(sql, job.id, long)) dead.push({ ...job, isDead: true, reason: UNHANDLED });
  return dead;
}

function deadLetterOne(sql: JobSql, id: string, condition: string): Promise<boolean> {
  return sql.database.transaction(async () => {
    // Locks the row, so that no worker claims it.
    const change = `UPDATE framework_jobs SET wait_key = NULL, token = token + 1 WHERE ${condition} AND id = ?`;
    const { affected } = await sql.run(change, [id]);
    if (affected > 0) await moveToDead(sql, [id], UNHANDLED);
    return affected > 0;
  });
}

export async function countUnhandled(sql: JobSql) {
  const some = `SELECT name, queue, unhandled_since FROM framework_jobs WHERE unhandled_since IS NOT NULL AND worker IS NULL LIMIT ${MAX_COUNTED}`;
  const { rows } = await sql.run(
    `SELECT name, queue, COUNT(*) AS jobs, MIN(unhandled_since) AS since FROM (${some}) AS bounded GROUP BY name, queue`,
  );
  return rows.map((row) => ({
    name: String(row["name"]),
    queue: String(row["queue"]),
    jobs: Number(row["jobs"]),
    since: Number(row["since"]),
  }));
}

/** A worker of the previous version does not list its handlers, and may handle every job. */
function handles({ names, queues }: JobRow, job: { readonly name: string; readonly queue: string }): boolean {
  return includesName(names, job.name) && includesName(queues, job.queue);
}

function includesName(list: unknown, wanted: string): boolean {
  if (typeof list !== "string") return true;
  const names: unknown = JSON.parse(list);
  return Array.isArray(names) && names.includes(wanted);
}

export function toClaim(row: JobRow): JobClaim {
  return { id: String(row["id"]), token: Number(row["token"]), concurrency: getConcurrency(row) };
}

export function toNamedJob(row: JobRow) {
  const [id, name, queue] = [String(row["id"]), String(row["name"]), String(row["queue"])];
  return { id, name, queue, attempt: Number(row["attempt"]) };
}
