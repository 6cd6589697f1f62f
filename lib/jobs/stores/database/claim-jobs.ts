/**
 * Claims due jobs, in the form that suits each engine: one statement on PostgreSQL, where a materialised CTE keeps the planner from locking
 * more rows than the limit; one UPDATE on SQLite, which has one writer; on MySQL a select that locks, and an update, at READ COMMITTED.
 */
import { buildPostgresOrder, buildSqliteOrder } from "./claim-order.js";
import { getConcurrency } from "./concurrency-slots.js";
import { binds, type JobRow, type JobSql, literal } from "./job-sql.js";
import type { JobRange } from "./mysql-ranges.js";
import type { ClaimedJob, ClaimRequest, NewJob } from "../../job-store.js";

const SMALL =
  "id, name, queue, priority, due, token, attempt, max_attempts, request_id, traceparent, tracestate, job_key, hold_key, concurrency_key, concurrency_limit".split(
    ", ",
  );
const COLUMNS = ["payload", ...SMALL].join(", ");
/** The package of PostgreSQL reads the name and type of each column again for each result, which takes longer than reading the values. */
const PACKED = `job.payload, json_build_array(${SMALL.map((name) => `job.${name}`).join(", ")})::text AS packed`;

export async function claimJobs(sql: JobSql, request: ClaimRequest): Promise<readonly ClaimedJob[]> {
  return (await claimRows(sql, request)).map(toClaimedJob);
}

/** A job that a relay moves to another queue: it has its priority and its key, and no delay, because the delay has passed. */
export interface JobInTransit extends ClaimedJob, NewJob {}

/** Like `claimJobs`, for a relay. */
export async function claimForTransit(sql: JobSql, request: ClaimRequest): Promise<readonly JobInTransit[]> {
  return (await claimRows(sql, request)).map((row) => {
    const facts = {
      priority: Number(row["priority"]),
      delayMs: 0,
      // The table holds only the hash of the key, which is a key as well.
      key: toOptionalText(row["job_key"]),
      unique: typeof row["hold_key"] === "string" ? ("until-done" as const) : ("waiting" as const),
    };
    // A spread of the job took a tenth of the processor time of a drain.
    return Object.assign(toClaimedJob(row), facts);
  });
}

async function claimRows(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const rows = sql.family === "mysql" ? await lockAndClaim(sql, request) : await claimAtOnce(sql, request);
  // RETURNING gives the rows in no order.
  return rows.toSorted(compareClaimOrder);
}

async function claimAtOnce(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const changes = buildChanges(sql, request);
  if (sql.family === "sqlite") {
    const { tables, picked, parameters } = buildSqliteOrder(sql, request);
    const update = `UPDATE framework_jobs SET ${changes} WHERE id IN (${tables} ${picked}) RETURNING ${COLUMNS}`;
    return (await sql.run(update, [request.worker, ...parameters])).rows;
  }
  const { tables, picked, parameters } = buildPostgresOrder(sql, request);
  const update = `${tables}, picked AS MATERIALIZED (${picked}) UPDATE framework_jobs job SET ${changes} FROM picked WHERE job.id = picked.id RETURNING ${PACKED}, (SELECT pg_relation_size('framework_jobs')) AS table_bytes${sql.planMark}`;
  const { rows } = await sql.run(update, [...parameters, request.worker]);
  sql.recordSize(rows[0]?.["table_bytes"]);
  return rows.map(unpackRow);
}

function unpackRow({ payload, packed }: JobRow): JobRow {
  // `PACKED` writes the values in this form.
  const values = JSON.parse(String(packed)) as readonly unknown[];
  const row: Record<string, unknown> = { payload };
  for (const [index, name] of SMALL.entries()) row[name] = values[index];
  return row;
}

async function lockAndClaim(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const ranges = await sql.ranges.due(sql, request);
  if (ranges.length === 0) return [];
  return sql.database.transaction(
    async () => {
      const rows = await lockRows(sql, ranges, request.limit);
      if (rows.length === 0) return rows;
      const ids = rows.map((row) => String(row["id"]));
      const where = `id IN ${binds(ids.length)}`;
      await sql.run(`UPDATE framework_jobs SET ${buildChanges(sql, request)} WHERE ${where}`, [request.worker, ...ids]);
      return rows.map((row) => ({ ...row, token: Number(row["token"]) + 1, attempt: Number(row["attempt"]) + 1 }));
    },
    { isolation: "read committed" },
  );
}

async function lockRows(sql: JobSql, ranges: readonly JobRange[], limit: number): Promise<readonly JobRow[]> {
  const rows: JobRow[] = [];
  for (const { queue, priority } of ranges) {
    if (rows.length >= limit) break;
    // Without the index a sort would lock every candidate.
    const range = `SELECT ${COLUMNS} FROM framework_jobs FORCE INDEX (framework_jobs_turn) WHERE worker IS NULL AND queue = ? AND priority = ${literal(priority)} AND due <= ${sql.now} ORDER BY due, id LIMIT ${literal(limit - rows.length)} FOR UPDATE SKIP LOCKED`;
    rows.push(...(await sql.run(range, [queue])).rows);
  }
  return rows;
}

/** The first bind is the worker. */
function buildChanges({ family, now }: JobSql, { leaseMs }: ClaimRequest): string {
  const old = (column: string): string => (family === "postgres" ? `job.${column}` : column);
  return `worker = ?, token = ${old("token")} + 1, attempt = ${old("attempt")} + 1, wait_key = NULL, leased_until = ${now} + ${literal(leaseMs)}`;
}

function compareClaimOrder(one: JobRow, other: JobRow): number {
  const [priority, due] = ["priority", "due"].map((name) => Number(one[name]) - Number(other[name]));
  return priority || due || (String(one["id"]) < String(other["id"]) ? -1 : 1);
}

function toClaimedJob(row: JobRow): ClaimedJob {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    queue: String(row["queue"]),
    payload: String(row["payload"]),
    token: Number(row["token"]),
    attempt: Number(row["attempt"]),
    maxAttempts: Number(row["max_attempts"]),
    requestId: toOptionalText(row["request_id"]),
    traceparent: toOptionalText(row["traceparent"]),
    tracestate: toOptionalText(row["tracestate"]),
    concurrency: getConcurrency(row),
  };
}

function toOptionalText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
