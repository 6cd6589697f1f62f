/**
 * The claim of due jobs, in the way of each engine: one statement on PostgreSQL, where a materialised CTE keeps the planner from locking
 * more rows than the limit; one UPDATE on SQLite, which has one writer; on MySQL a select that locks, and an update, at READ COMMITTED.
 */
import { binds, type JobRow, type JobSql, literal } from "./job-sql.js";
import type { ClaimedJob, ClaimRequest, NewJob } from "./job-store.js";

const SMALL =
  "id, name, queue, priority, due, token, attempt, max_attempts, request_id, traceparent, tracestate, job_key, hold_key".split(
    ", ",
  );
const COLUMNS = ["payload", ...SMALL].join(", ");
/** The package of PostgreSQL reads the name and type of each column anew for each result, which takes longer than all their values. */
const PACKED = `job.payload, json_build_array(${SMALL.map((name) => `job.${name}`).join(", ")})::text AS packed`;

export async function claimJobs(sql: JobSql, request: ClaimRequest): Promise<readonly ClaimedJob[]> {
  return (await claimedRows(sql, request)).map(claimedJob);
}

/** A job on its way to another queue: with its priority and its key, and without the delay that has passed. */
export interface JobInTransit extends ClaimedJob, NewJob {}

/** As `claimJobs`, for a relay. */
export async function claimForTransit(sql: JobSql, request: ClaimRequest): Promise<readonly JobInTransit[]> {
  return (await claimedRows(sql, request)).map((row) => ({
    ...claimedJob(row),
    priority: Number(row["priority"]),
    delayMs: 0,
    // The table holds only the hash of the key, which is a key as well.
    key: textOf(row["job_key"]),
    unique: typeof row["hold_key"] === "string" ? "until-done" : "waiting",
  }));
}

async function claimedRows(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const rows = sql.dialect === "mysql" ? await lockAndClaim(sql, request) : await claimAtOnce(sql, request);
  // RETURNING gives the rows in no order.
  return rows.toSorted(byTurn);
}

async function claimAtOnce(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const { picked, queues } = pick(sql, request);
  const changes = changesOf(sql, request);
  if (sql.dialect === "sqlite") {
    const update = `UPDATE framework_jobs SET ${changes} WHERE id IN (${picked}) RETURNING ${COLUMNS}`;
    return (await sql.run(update, [request.worker, ...queues])).rows;
  }
  const update = `WITH picked AS MATERIALIZED (${picked} FOR UPDATE SKIP LOCKED) UPDATE framework_jobs job SET ${changes} FROM picked WHERE job.id = picked.id RETURNING ${PACKED}, (SELECT pg_relation_size('framework_jobs')) AS table_bytes${sql.planMark}`;
  const { rows } = await sql.run(update, [...queues, request.worker]);
  sql.noteSize(rows[0]?.["table_bytes"]);
  return rows.map(unpacked);
}

function unpacked({ payload, packed }: JobRow): JobRow {
  // As PACKED writes it.
  const values = JSON.parse(String(packed)) as readonly unknown[];
  const row: Record<string, unknown> = { payload };
  for (const [index, name] of SMALL.entries()) row[name] = values[index];
  return row;
}

function lockAndClaim(sql: JobSql, request: ClaimRequest): Promise<readonly JobRow[]> {
  const { picked, queues } = pick(sql, request, COLUMNS);
  return sql.database.transaction(
    async () => {
      const { rows } = await sql.run(`${picked} FOR UPDATE SKIP LOCKED`, queues);
      if (rows.length === 0) return rows;
      const ids = rows.map((row) => String(row["id"]));
      const where = `id IN ${binds(ids.length)}`;
      await sql.run(`UPDATE framework_jobs SET ${changesOf(sql, request)} WHERE ${where}`, [request.worker, ...ids]);
      return rows.map((row) => ({ ...row, token: Number(row["token"]) + 1, attempt: Number(row["attempt"]) + 1 }));
    },
    { isolation: "read committed" },
  );
}

function pick({ dialect, now }: JobSql, { queues = [], limit }: ClaimRequest, columns = "id") {
  const ofQueues = queues.length === 0 ? "" : `AND queue IN ${binds(queues.length)}`;
  // Without the index a sort would lock every candidate.
  const index = dialect === "mysql" ? "FORCE INDEX (framework_jobs_turn)" : "";
  // PostgreSQL would read the clock for each row, and so could not look the time up in the index.
  const time = dialect === "postgres" ? `(SELECT ${now})` : now;
  // True of each job. Without statistics PostgreSQL expects few jobs because of it, and reads the index in its order instead of sorting all.
  const all = dialect === "postgres" ? "AND priority BETWEEN 0 AND 100" : "";
  const picked = `SELECT ${columns} FROM framework_jobs ${index} WHERE worker IS NULL ${all} AND due <= ${time} ${ofQueues} ORDER BY priority, due, id LIMIT ${literal(limit)}`;
  return { picked, queues };
}

/** The first bind is the worker. */
function changesOf({ dialect, now }: JobSql, { leaseMs }: ClaimRequest): string {
  const old = (column: string): string => (dialect === "postgres" ? `job.${column}` : column);
  return `worker = ?, token = ${old("token")} + 1, attempt = ${old("attempt")} + 1, wait_key = NULL, leased_until = ${now} + ${literal(leaseMs)}`;
}

function byTurn(one: JobRow, other: JobRow): number {
  const [priority, due] = ["priority", "due"].map((name) => Number(one[name]) - Number(other[name]));
  return priority || due || (String(one["id"]) < String(other["id"]) ? -1 : 1);
}

function claimedJob(row: JobRow): ClaimedJob {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    queue: String(row["queue"]),
    payload: String(row["payload"]),
    token: Number(row["token"]),
    attempt: Number(row["attempt"]),
    maxAttempts: Number(row["max_attempts"]),
    requestId: textOf(row["request_id"]),
    traceparent: textOf(row["traceparent"]),
    tracestate: textOf(row["tracestate"]),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
