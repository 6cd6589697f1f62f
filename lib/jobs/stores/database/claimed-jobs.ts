/**
 * The steps of claims in the tables: completions, failures, releases, leases. Each is one statement for many rows; on MySQL it is a select
 * that locks, and a statement. A step whose token is not that of the current claim changes no row.
 */
import { binds, isFailure, type JobRows, type JobSql, literal } from "./job-sql.js";
import type { JobClaim } from "../../job-store.js";

/** The columns that a dead letter has in common with a job. */
export const DEAD_COLUMNS =
  "id, name, queue, priority, payload, max_attempts, attempt, token, request_id, traceparent, tracestate, concurrency_key, concurrency_limit";

const READ_COMMITTED = { isolation: "read committed" } as const;

export interface JobRelease {
  readonly delayMs: number;
  /** The attempt of the claim counts. */
  readonly countsAttempt: boolean;
  /** The worker had no handler. */
  readonly isUnhandled?: boolean;
  /** The time at which the job is due, as an expression. Absent: after the delay. */
  readonly due?: string;
}

/** Returns the ids of the removed jobs. */
export function removeClaimed(sql: JobSql, claims: readonly JobClaim[]): Promise<ReadonlySet<string>> {
  return changeClaimed(sql, claims, "DELETE FROM framework_jobs");
}

/** Returns the ids of the jobs whose claims are marked as started. */
export function markStarted(sql: JobSql, claims: readonly JobClaim[]): Promise<ReadonlySet<string>> {
  return changeClaimed(sql, claims, "UPDATE framework_jobs SET started_token = token");
}

/** Returns the ids of the jobs whose leases were renewed. */
export function renewLeases(sql: JobSql, claims: readonly JobClaim[], leaseMs: number): Promise<ReadonlySet<string>> {
  return changeClaimed(sql, claims, `UPDATE framework_jobs SET leased_until = ${sql.now} + ${literal(leaseMs)}`);
}

/**
 * Returns the ids of the jobs that wait again, or that were dropped: another job with the same key waits already, or the cancellation of
 * the job was requested.
 */
export async function releaseClaimed(
  sql: JobSql,
  claims: readonly JobClaim[],
  options: JobRelease,
): Promise<ReadonlySet<string>> {
  try {
    const returned = await changeClaimed(sql, claims, buildRelease(sql, options), "AND cancel_asked IS NULL");
    const others = claims.filter(({ id }) => !returned.has(id));
    if (others.length === 0) return returned;
    const dropped = await changeClaimed(sql, others, "DELETE FROM framework_jobs", "AND cancel_asked IS NOT NULL");
    return new Set([...returned, ...dropped]);
  } catch (error) {
    if (!isFailure(error, "unique")) throw error;
    if (claims.length === 1) return removeClaimed(sql, claims);
    const each: string[] = [];
    for (const claim of claims) each.push(...(await releaseClaimed(sql, [claim], options)));
    return new Set(each);
  }
}

/** Returns the ids of the jobs that are dead letters now. */
export async function deadLetterClaimed(
  sql: JobSql,
  claims: readonly JobClaim[],
  reason: string,
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  return sql.database.transaction(async () => {
    // Locks the rows, and ends the claims.
    const change = "UPDATE framework_jobs SET worker = NULL, wait_key = NULL, token = token + 1";
    const ids = await changeRows(sql, claims, change);
    await moveToDead(sql, [...ids], reason);
    return ids;
  }, READ_COMMITTED);
}

/** Called in a transaction that has locked the rows. */
export async function moveToDead(sql: JobSql, ids: readonly string[], reason: string): Promise<void> {
  if (ids.length === 0) return;
  const text = sql.family === "postgres" ? "CAST(? AS text)" : "?";
  const where = `WHERE id IN ${binds(ids.length)}`;
  await sql.run(
    `INSERT INTO framework_dead_jobs (${DEAD_COLUMNS}, reason, died_at) SELECT ${DEAD_COLUMNS}, ${text}, ${sql.now} FROM framework_jobs ${where}`,
    [reason.replaceAll("\u0000", ""), ...ids],
  );
  await sql.run(`DELETE FROM framework_jobs ${where}`, ids);
}

function buildRelease({ now }: JobSql, { delayMs, countsAttempt, isUnhandled = false, ...how }: JobRelease): string {
  const { due = `${now} + ${literal(Math.trunc(delayMs))}` } = how;
  const attempt = countsAttempt ? "attempt" : "attempt - 1";
  const unhandled = isUnhandled ? `COALESCE(unhandled_since, ${now})` : "NULL";
  return `UPDATE framework_jobs SET worker = NULL, leased_until = NULL, due = ${due}, attempt = ${attempt}, unhandled_since = ${unhandled}, wait_key = job_key, slot_key = NULL`;
}

async function changeClaimed(
  sql: JobSql,
  claims: readonly JobClaim[],
  change: string,
  condition = "",
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const changed = (): Promise<ReadonlySet<string>> => changeRows(sql, claims, change, condition);
  return sql.family === "mysql" ? sql.database.transaction(changed, READ_COMMITTED) : changed();
}

/** On MySQL it is called in a transaction, because a change returns no rows there. */
async function changeRows(
  sql: JobSql,
  claims: readonly JobClaim[],
  change: string,
  condition = "",
): Promise<ReadonlySet<string>> {
  const { where, parameters } = buildClaimCondition(sql, claims);
  if (sql.family !== "mysql")
    return listIds(await sql.run(`${change} ${where} ${condition} RETURNING id${sql.planMark}`, parameters));
  const ids = listIds(await sql.run(`SELECT id FROM framework_jobs ${where} ${condition} FOR UPDATE`, parameters));
  if (ids.size > 0) await sql.run(`${change} WHERE id IN ${binds(ids.size)}`, [...ids]);
  return ids;
}

/**
 * The condition has two binds for any number of claims, so the server parses and plans the text once. The inner selects hide the number of
 * claims from the planner, which would read the whole table for hundreds of claims.
 */
const POSTGRES_CLAIMS =
  "WHERE worker IS NOT NULL AND (id, token) IN (SELECT claim.id, claim.token FROM unnest(string_to_array((SELECT CAST(? AS text)), ','), CAST(string_to_array((SELECT CAST(? AS text)), ',') AS bigint[])) AS claim (id, token))";

function buildClaimCondition({ family }: JobSql, claims: readonly JobClaim[]) {
  const ids = claims.map(({ id }) => id);
  const [first] = claims;
  if (first !== undefined && claims.length === 1)
    return { where: `WHERE worker IS NOT NULL AND token = ${literal(first.token)} AND id = ?`, parameters: ids };
  if (family === "postgres")
    return { where: POSTGRES_CLAIMS, parameters: [ids.join(","), claims.map(({ token }) => token).join(",")] };
  const rows = claims.map(({ token }) => `(?, ${literal(token)})`).join(", ");
  const pairs = `(id, token) IN (${family === "sqlite" ? `VALUES ${rows}` : rows})`;
  // MySQL reads all rows to find a pair, so the statement names the ids as well.
  if (family !== "mysql") return { where: `WHERE worker IS NOT NULL AND ${pairs}`, parameters: ids };
  return {
    where: `WHERE worker IS NOT NULL AND id IN ${binds(ids.length)} AND ${pairs}`,
    parameters: [...ids, ...ids],
  };
}

function listIds({ rows }: JobRows): ReadonlySet<string> {
  return new Set(rows.map((row) => String(row["id"])));
}
