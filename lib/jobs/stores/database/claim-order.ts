/**
 * The next jobs to claim, as SQL for PostgreSQL and SQLite. The index of the waiting jobs starts with queue and priority, and each pair of
 * the two is a range of the index. A statement walks from the first row of one range to that of the next, so a claim costs the same beside
 * ten jobs and a million: jobs that are not due, and jobs of other queues, are never read.
 */
import { binds, type JobSql, literal } from "./job-sql.js";
import type { ClaimRequest } from "../../job-store.js";

/** The maximum number of ranges that a claim reads. */
const MAX_RANGES = 10_000;

export interface ClaimOrder {
  /** Selects the column `id` of the jobs to claim. It starts with `WITH RECURSIVE head …, due_range …`. */
  readonly tables: string;
  readonly picked: string;
  readonly parameters: readonly string[];
}

export function buildPostgresOrder({ now }: JobSql, { queues, except = [], limit }: ClaimRequest): ClaimOrder {
  // Without the subquery, PostgreSQL reads the clock for each row and cannot use the index for the time.
  const time = `(SELECT ${now})`;
  const first = "SELECT queue, priority, due FROM framework_jobs WHERE worker IS NULL";
  const order = "ORDER BY queue, priority, due, id LIMIT 1";
  const named = (queues ?? []).map(() => "(CAST(? AS text))").join(", ");
  const heads =
    queues === undefined
      ? `(${first} ${order}) UNION ALL SELECT next.* FROM head CROSS JOIN LATERAL (${first} AND (queue, priority) > (head.queue, head.priority) ${order}) AS next`
      : `(SELECT next.* FROM (VALUES ${named}) AS named (queue) CROSS JOIN LATERAL (${first} AND queue = named.queue ${order}) AS next) UNION ALL SELECT next.* FROM head CROSS JOIN LATERAL (${first} AND queue = head.queue AND priority > head.priority ${order}) AS next`;
  const range = `SELECT id FROM framework_jobs WHERE worker IS NULL AND queue = due_range.queue AND priority = due_range.priority AND due <= ${time} ORDER BY due, id LIMIT ${literal(limit)} FOR UPDATE SKIP LOCKED`;
  return {
    tables: `WITH RECURSIVE head AS (${heads}), due_range AS MATERIALIZED (SELECT queue, priority FROM head WHERE due <= ${time} ${excludeQueues(except)} ORDER BY priority, due LIMIT ${MAX_RANGES})`,
    // The limit ends the walk before further rows are locked.
    picked: `SELECT job.id FROM due_range CROSS JOIN LATERAL (${range}) AS job LIMIT ${literal(limit)}`,
    parameters: [...(queues ?? []), ...except],
  };
}

export function buildSqliteOrder({ now }: JobSql, { queues, except = [], limit }: ClaimRequest): ClaimOrder {
  const first = "SELECT next.id FROM framework_jobs next WHERE next.worker IS NULL";
  const order = "ORDER BY next.queue, next.priority, next.due, next.id LIMIT 1";
  const named = (queues ?? []).map(() => "(?)").join(", ");
  const nextPriority = `(${first} AND next.queue = job.queue AND next.priority > job.priority ${order})`;
  // SQLite does not use the index to find a pair that is larger than another.
  const nextQueue = `(${first} AND next.queue > job.queue ${order})`;
  const following = queues === undefined ? `COALESCE(${nextPriority}, ${nextQueue})` : nextPriority;
  const start =
    queues === undefined
      ? `SELECT (${first} ${order})`
      : `SELECT (${first} AND next.queue = named.column1 ${order}) FROM (VALUES ${named}) AS named`;
  const heads = `${start} UNION ALL SELECT ${following} FROM head CROSS JOIN framework_jobs job ON job.id = head.id`;
  const ranges = `SELECT queue, priority FROM head CROSS JOIN framework_jobs job ON job.id = head.id WHERE due <= ${now} ${excludeQueues(except)} ORDER BY priority, due LIMIT ${MAX_RANGES}`;
  return {
    tables: `WITH RECURSIVE head (id) AS (${heads}), due_range AS MATERIALIZED (${ranges})`,
    // SQLite walks the ranges in their order, and each range in the order of the index.
    picked: `SELECT job.id FROM due_range CROSS JOIN framework_jobs job INDEXED BY framework_jobs_turn WHERE job.worker IS NULL AND job.queue = due_range.queue AND job.priority = due_range.priority AND job.due <= ${now} LIMIT ${literal(limit)}`,
    parameters: [...(queues ?? []), ...except],
  };
}

/** The condition that the queue of a range is not paused, and is not one of `except`. */
function excludeQueues(except: readonly string[]): string {
  const others = except.length === 0 ? "" : `AND queue NOT IN ${binds(except.length)}`;
  return `AND queue NOT IN (SELECT queue FROM framework_job_queues) ${others}`;
}
