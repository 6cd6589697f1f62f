/**
 * The rows of the worker processes: a heartbeat each, with the names of the jobs and the queues that the process works on. Missing
 * heartbeats show which jobs no living worker has claimed, and which jobs no living worker has a handler for.
 */
import { getConcurrency } from "./concurrency-slots.js";
import { type JobRow, type JobSql, literal } from "./job-sql.js";
import { MAX_AHEAD_MS } from "./job-ticks.js";
import { moveToDead } from "./claimed-jobs.js";
import {
  WORKER_DIED,
  type Heartbeat,
  type JobClaim,
  type LiveWorker,
  MAX_COUNTED,
  type ReapedJob,
  UNHANDLED,
} from "../../job-store.js";

const MAX_REAPED = 500;
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

export interface LostJob extends ReapedJob, JobClaim {
  /** The attempt of the claim counts. */
  readonly countsAttempt: boolean;
}

/** Removes the workers without a heartbeat for `deadAfterMs`, and finds the claims without a worker or a valid lease. */
export async function removeDeadWorkersAndFindLostJobs(sql: JobSql, deadAfterMs: number): Promise<readonly LostJob[]> {
  const { now } = sql;
  // The clock was ahead at the last heartbeat, and was set back since: a dead worker must not seem to be alive until then.
  await sql.run(`UPDATE framework_job_workers SET beat_at = ${now} WHERE beat_at > ${now} + ${MAX_AHEAD_MS}`);
  await sql.run(`DELETE FROM framework_job_workers WHERE beat_at < ${now} - ${literal(deadAfterMs)}`);
  const { rows } = await sql.run(
    `SELECT id, token, name, queue, attempt, max_attempts, started_token, concurrency_key, concurrency_limit FROM framework_jobs WHERE worker IS NOT NULL AND (leased_until <= ${now} OR worker NOT IN (SELECT id FROM framework_job_workers)) LIMIT ${MAX_REAPED}`,
  );
  return rows.map((row) => {
    const isLast = Number(row["attempt"]) >= Number(row["max_attempts"]);
    const isDead = isLast && Number(row["started_token"] ?? 0) === Number(row["token"]);
    return { ...toClaim(row), ...toNamedJob(row), isDead, countsAttempt: isDead || !isLast, reason: WORKER_DIED };
  });
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

function toClaim(row: JobRow): JobClaim {
  return { id: String(row["id"]), token: Number(row["token"]), concurrency: getConcurrency(row) };
}

function toNamedJob(row: JobRow) {
  const [id, name, queue] = [String(row["id"]), String(row["name"]), String(row["queue"])];
  return { id, name, queue, attempt: Number(row["attempt"]) };
}
