/** The operators' port of `DatabaseJobs`. */
import type {
  Cancellation,
  DeadLetterPurge,
  JobAdmin,
  JobList,
  JobState,
  ListedJob,
  PausedQueue,
  QueueSummary,
  ShownJob,
  WorkerSummary,
} from "../../job-admin.js";
import { getDueTime } from "./concurrency-slots.js";
import { type JobRow, type JobSql, literal } from "./job-sql.js";
import { listWorkers, summarizeQueues } from "./queue-summaries.js";

/** The maximum number of jobs of a queue that a list by name reads. */
const MAX_SEARCHED = 100_000;
const MAX_PAUSED = 1000;
const CANCEL_TRIES = 5;

interface StateSource {
  readonly from: string;
  readonly order: string;
}

const LIVE = "id, name, queue, priority, attempt, max_attempts, due, worker, NULL AS reason, NULL AS died_at";
const DEAD = "id, name, queue, priority, attempt, max_attempts, NULL AS due, NULL AS worker, reason, died_at";
const SHOWN = "payload, request_id";

const SOURCES: Readonly<Record<JobState, StateSource>> = {
  // The condition on the time lets the engines use the index of the running jobs.
  running: {
    from: `${LIVE} FROM framework_jobs WHERE worker IS NOT NULL AND leased_until > 0 AND queue = ?`,
    order: "ORDER BY priority, due, id",
  },
  waiting: {
    from: `${LIVE} FROM framework_jobs WHERE worker IS NULL AND queue = ?`,
    order: "ORDER BY priority, due, id",
  },
  dead: { from: `${DEAD} FROM framework_dead_jobs WHERE queue = ?`, order: "ORDER BY died_at DESC, id DESC" },
};

export class DatabaseAdmin implements JobAdmin {
  /** @param withRetries runs the work again after a conflict with another transaction */
  constructor(
    private readonly sql: JobSql,
    private readonly withRetries: <T>(work: () => Promise<T>) => Promise<T>,
  ) {}

  list(request: JobList): Promise<readonly ListedJob[]> {
    return listJobs(this.sql, request);
  }

  queues(): Promise<readonly QueueSummary[]> {
    return summarizeQueues(this.sql);
  }

  workers(): Promise<readonly WorkerSummary[]> {
    return listWorkers(this.sql);
  }

  show(id: string): Promise<ShownJob | undefined> {
    return showJob(this.sql, id);
  }

  cancel(id: string): Promise<Cancellation> {
    return this.withRetries(() => cancelJob(this.sql, id));
  }

  async pause(queue: string, by: string): Promise<boolean> {
    const { family, now } = this.sql;
    const [insert, ignore] =
      family === "mysql" ? ["INSERT IGNORE INTO", ""] : ["INSERT INTO", "ON CONFLICT DO NOTHING"];
    const row = `framework_job_queues (queue, paused_at, paused_by) VALUES (?, ${now}, ?)`;
    return (await this.sql.run(`${insert} ${row} ${ignore}`, [queue, by])).affected > 0;
  }

  async resume(queue: string): Promise<boolean> {
    return (await this.sql.run("DELETE FROM framework_job_queues WHERE queue = ?", [queue])).affected > 0;
  }

  async paused(): Promise<readonly PausedQueue[]> {
    const select = `SELECT queue, paused_at, paused_by FROM framework_job_queues ORDER BY queue LIMIT ${MAX_PAUSED}`;
    return (await this.sql.run(select)).rows.map((row) => ({
      queue: String(row["queue"]),
      since: Number(row["paused_at"]),
      by: String(row["paused_by"]),
    }));
  }

  purge(request: DeadLetterPurge): Promise<number> {
    return this.withRetries(() => purgeDead(this.sql, request));
  }
}

async function listJobs(sql: JobSql, { queue, states, name, limit }: JobList): Promise<readonly ListedJob[]> {
  const found: ListedJob[] = [];
  for (const state of states) {
    if (found.length >= limit) break;
    const { from, order } = SOURCES[state];
    const rest = `LIMIT ${literal(limit - found.length)}`;
    const { rows } =
      name === undefined
        ? await sql.run(`SELECT ${from} ${order} ${rest}`, [queue])
        : await sql.run(
            `SELECT * FROM (SELECT ${from} ${order} LIMIT ${MAX_SEARCHED}) AS part WHERE name = ? ${order} ${rest}`,
            [queue, name],
          );
    found.push(...rows.map((row) => toListedJob(row, state)));
  }
  return found;
}

async function showJob(sql: JobSql, id: string): Promise<ShownJob | undefined> {
  const live = (await sql.run(`SELECT ${LIVE}, ${SHOWN} FROM framework_jobs WHERE id = ?`, [id])).rows[0];
  if (live !== undefined) return toShownJob(live, live["worker"] === null ? "waiting" : "running");
  const dead = (await sql.run(`SELECT ${DEAD}, ${SHOWN} FROM framework_dead_jobs WHERE id = ?`, [id])).rows[0];
  return dead === undefined ? undefined : toShownJob(dead, "dead");
}

async function cancelJob(sql: JobSql, id: string): Promise<Cancellation> {
  for (let left = CANCEL_TRIES; left > 0; left--) {
    const removed = await sql.run("DELETE FROM framework_jobs WHERE worker IS NULL AND id = ?", [id]);
    if (removed.affected > 0) return "removed";
    // The increment makes each request a change, because MySQL does not count an unchanged row.
    const asked = `UPDATE framework_jobs SET cancel_asked = COALESCE(cancel_asked, 0) + 1 WHERE worker IS NOT NULL AND id = ?`;
    if ((await sql.run(asked, [id])).affected > 0) return "asked";
    const { rows } = await sql.run("SELECT id FROM framework_jobs WHERE id = ?", [id]);
    if (rows.length === 0) return "gone";
    // The claim ended in between, and the job waits again.
  }
  return "gone";
}

async function purgeDead(sql: JobSql, { olderThanMs, keep, limit }: DeadLetterPurge): Promise<number> {
  const conditions: string[] = [];
  const parameters: string[] = [];
  if (olderThanMs !== undefined) conditions.push(`died_at < (SELECT ${sql.now} - ${literal(olderThanMs)})`);
  const first = keep === undefined ? undefined : await findLatestToPurge(sql, keep);
  if (first !== undefined) {
    const { diedAt, id } = first;
    conditions.push(`(died_at < ${literal(diedAt)} OR (died_at = ${literal(diedAt)} AND id <= ?))`);
    parameters.push(id);
  }
  if (conditions.length === 0) return 0;
  const old = `WHERE ${conditions.join(" OR ")} ORDER BY died_at, id LIMIT ${literal(limit)}`;
  const some = sql.family === "mysql" ? old : `WHERE id IN (SELECT id FROM framework_dead_jobs ${old})`;
  return (await sql.run(`DELETE FROM framework_dead_jobs ${some}`, parameters)).affected;
}

/** The latest dead letter that is not among the `keep` latest ones. */
async function findLatestToPurge(sql: JobSql, keep: number) {
  const latest = `SELECT died_at, id FROM framework_dead_jobs ORDER BY died_at DESC, id DESC LIMIT 1 OFFSET ${literal(keep)}`;
  const [row] = (await sql.run(latest)).rows;
  return row === undefined ? undefined : { diedAt: Number(row["died_at"]), id: String(row["id"]) };
}

function toListedJob(row: JobRow, state: JobState): ListedJob {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    queue: String(row["queue"]),
    state,
    priority: Number(row["priority"]),
    attempt: Number(row["attempt"]),
    maxAttempts: Number(row["max_attempts"]),
    dueAt: state === "waiting" ? getDueTime(Number(row["due"])) : undefined,
    reason: state === "dead" ? String(row["reason"]) : undefined,
    diedAt: state === "dead" ? Number(row["died_at"]) : undefined,
  };
}

function toShownJob(row: JobRow, state: JobState): ShownJob {
  const requestId = row["request_id"];
  return {
    ...toListedJob(row, state),
    payload: String(row["payload"]),
    requestId: typeof requestId === "string" ? requestId : undefined,
  };
}
