/**
 * The queues in the tables, with their numbers of jobs. The index of the waiting jobs starts with queue and priority. A walk from the first
 * job of one pair to that of the next finds all queues, however many jobs wait.
 */
import type { QueueSummary, WorkerSummary } from "../../job-admin.js";
import { MAX_COUNTED } from "../../job-store.js";
import { DEAD_AFTER_MS } from "../../worker/heartbeats.js";
import { getDueTime } from "./concurrency-slots.js";
import { type JobRow, type JobSql, literal } from "./job-sql.js";

/** The maximum number of queues. The first ones are those whose jobs have waited longest. */
export const MAX_QUEUES = 100;
/** The maximum number of pairs of queue and priority that one call reads. */
const MAX_RANGES = 1000;
/** The maximum number of dead letters that one call counts. */
const MAX_DEAD = 100_000;
const MAX_WORKERS = 10_000;

export async function summarizeQueues(sql: JobSql): Promise<readonly QueueSummary[]> {
  const oldest = await findOldest(sql);
  // The condition on the time lets the engines use the index of the running jobs.
  const claimed = "framework_jobs WHERE worker IS NOT NULL AND leased_until > 0";
  const running = await countByQueue(sql, `${claimed} LIMIT ${MAX_COUNTED}`);
  const dead = await countByQueue(sql, `framework_dead_jobs ORDER BY died_at DESC LIMIT ${MAX_DEAD}`);
  const summaries: QueueSummary[] = [];
  for (const queue of sortQueues([...oldest.keys(), ...running.keys(), ...dead.keys()], oldest)) {
    const waiting = oldest.has(queue) ? await countWaiting(sql, queue) : 0;
    const [runs, died] = [running, dead].map((counts) => Math.min(counts.get(queue) ?? 0, MAX_COUNTED));
    summaries.push({ queue, waiting, running: runs ?? 0, dead: died ?? 0, oldestDueAt: oldest.get(queue) });
  }
  return summaries;
}

/** The queue whose job has waited longest comes first. */
export function sortQueues(names: readonly string[], oldest: ReadonlyMap<string, number>): readonly string[] {
  const getTime = (queue: string): number => oldest.get(queue) ?? Infinity;
  const compare = (one: string, other: string): number =>
    getTime(one) === getTime(other) ? (one < other ? -1 : 1) : getTime(one) - getTime(other);
  return [...new Set(names)].toSorted(compare).slice(0, MAX_QUEUES);
}

/** The living workers. One of the previous version does not list its handlers. */
export async function listWorkers(sql: JobSql): Promise<readonly WorkerSummary[]> {
  const alive = `SELECT names, queues FROM framework_job_workers WHERE beat_at >= ${sql.now} - ${DEAD_AFTER_MS} LIMIT ${MAX_WORKERS}`;
  return (await sql.run(alive)).rows.map(({ names, queues }) => ({
    names: readList(names),
    queues: readList(queues),
  }));
}

function readList(text: unknown): readonly string[] | undefined {
  const list: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
  return Array.isArray(list) ? list.map(String) : undefined;
}

/** The time of the waiting job that may run first, by queue. */
async function findOldest(sql: JobSql): Promise<Map<string, number>> {
  const oldest = new Map<string, number>();
  let at = await findNextQueue(sql, "");
  for (let left = MAX_RANGES; at !== undefined && left > 0; left--) {
    const { queue, priority, due } = at;
    oldest.set(queue, Math.min(oldest.get(queue) ?? Infinity, due));
    at = (await findNextPriority(sql, queue, priority)) ?? (await findNextQueue(sql, queue));
  }
  return oldest;
}

type RangeHead = Pick<QueueSummary, "queue"> & { readonly priority: number; readonly due: number };

function findNextQueue(sql: JobSql, queue: string): Promise<RangeHead | undefined> {
  return findHead(sql, "queue > ? ORDER BY queue, priority, due, id", queue);
}

function findNextPriority(sql: JobSql, queue: string, priority: number): Promise<RangeHead | undefined> {
  return findHead(sql, `queue = ? AND priority > ${literal(priority)} ORDER BY priority, due, id`, queue);
}

async function findHead(sql: JobSql, rest: string, queue: string): Promise<RangeHead | undefined> {
  const index = sql.family === "mysql" ? "FORCE INDEX (framework_jobs_turn)" : "";
  const first = `SELECT queue, priority, due FROM framework_jobs ${index} WHERE worker IS NULL AND ${rest} LIMIT 1`;
  const [row] = (await sql.run(first, [queue])).rows;
  return row && { ...toQueue(row), priority: Number(row["priority"]), due: getDueTime(Number(row["due"])) };
}

async function countWaiting(sql: JobSql, queue: string): Promise<number> {
  const some = `SELECT 1 AS one FROM framework_jobs WHERE worker IS NULL AND queue = ? LIMIT ${MAX_COUNTED}`;
  return Number((await sql.run(`SELECT COUNT(*) AS jobs FROM (${some}) AS bounded`, [queue])).rows[0]?.["jobs"]);
}

async function countByQueue(sql: JobSql, from: string): Promise<ReadonlyMap<string, number>> {
  const counted = `SELECT queue, COUNT(*) AS jobs FROM (SELECT queue FROM ${from}) AS bounded GROUP BY queue`;
  return new Map((await sql.run(counted)).rows.map((row) => [toQueue(row).queue, Number(row["jobs"])]));
}

function toQueue(row: JobRow): { readonly queue: string } {
  return { queue: String(row["queue"]) };
}
