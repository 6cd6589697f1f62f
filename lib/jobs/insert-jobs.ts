/**
 * Adds jobs to the tables. Many jobs without a key are the rows of one statement, or of a few if their payloads are large. A job with a key
 * is bound by unique indexes: `wait_key` is set while a job waits; `hold_key` is set for a job that is unique until it is done, until it is
 * done. The keys are hashes of name and key, so that no collation of an engine makes two keys one.
 */
import { createHash } from "node:crypto";
import { FrameworkError } from "../errors/framework-error.js";
import { type JobSql, literal } from "./job-sql.js";
import type { Dispatched, NewJob } from "./job-store.js";

const COLUMNS =
  "id, name, queue, payload, request_id, traceparent, tracestate, job_key, wait_key, hold_key, priority, max_attempts, due";
const TRIES = 5;
/** A server refuses a statement above its limit: MariaDB above 16 MiB, unless its `max_allowed_packet` is set. */
const MOST_BYTES = 2_097_152;

/** The columns of a new payload for a job that waits already. */
const REPLACED = ["payload", "request_id", "traceparent", "tracestate"];

export async function insertJobs(sql: JobSql, jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
  await insertPlain(
    sql,
    jobs.filter(({ key }) => key === undefined),
  );
  const results: Dispatched[] = [];
  for (const job of jobs) results.push(await insertKeyed(sql, job));
  return results;
}

/** All jobs or none: a repeated call must not find a part of them. */
async function insertPlain(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const insert = sql.dialect === "postgres" ? insertDocument : insertRows;
  const [first, ...others] = partsOf(jobs);
  if (first === undefined) return;
  if (others.length === 0) return insert(sql, first);
  await sql.database.transaction(async () => {
    for (const part of [first, ...others]) await insert(sql, part);
  });
}

/** The jobs of each statement. */
function partsOf(jobs: readonly NewJob[]): readonly (readonly NewJob[])[] {
  const parts: NewJob[][] = [];
  let part: NewJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const length = Buffer.byteLength(job.payload);
    if (part.length === 0 || bytes + length > MOST_BYTES) {
      part = [];
      bytes = 0;
      parts.push(part);
    }
    part.push(job);
    bytes += length;
  }
  return parts;
}

async function insertRows(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const values = jobs.map((job) => `(${valuesOf(sql, job)})`).join(", ");
  await sql.run(
    `INSERT INTO framework_jobs (${COLUMNS}) VALUES ${values}`,
    jobs.flatMap((job) => bindsOf(job)),
  );
}

/** The fields of the document, and their types in PostgreSQL. */
const FIELDS = {
  id: "text",
  name: "text",
  queue: "text",
  payload: "text",
  request_id: "text",
  traceparent: "text",
  tracestate: "text",
  priority: "integer",
  max_attempts: "integer",
  delay: "bigint",
} as const;

/** One bind for all jobs: the text is always the same, so the server parses it once, and adds 500 jobs four times as fast. */
async function insertDocument(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const fields = Object.keys(FIELDS).join(", ").replace(", delay", "");
  const record = Object.entries(FIELDS).map(([field, type]) => `${field} ${type}`);
  await sql.run(
    `INSERT INTO framework_jobs (${fields}, due) SELECT ${fields}, clock.now + delay FROM (SELECT ${sql.now} AS now) AS clock, json_to_recordset(CAST(? AS json)) AS job(${record.join(", ")})`,
    [JSON.stringify(jobs.map(fieldsOf))],
  );
}

function fieldsOf(job: NewJob): Record<keyof typeof FIELDS, string | number | undefined> {
  const { id, name, queue, payload, requestId, traceparent, tracestate } = job;
  const { priority, maxAttempts, delayMs } = job;
  const texts = { id, name, queue, payload, request_id: requestId, traceparent, tracestate };
  return { ...texts, priority, max_attempts: maxAttempts, delay: delayMs };
}

function insertKeyed(sql: JobSql, job: NewJob): Promise<Dispatched> | Dispatched {
  const { key, name, unique } = job;
  if (key === undefined) return { outcome: "created", id: job.id };
  const hash = createHash("sha256").update(`${name}\n${key}`).digest("hex");
  return unique === "waiting" ? replaceWaiting(sql, job, hash) : keepExisting(sql, job, hash);
}

async function replaceWaiting(sql: JobSql, job: NewJob, hash: string): Promise<Dispatched> {
  const insert = `INSERT INTO framework_jobs (${COLUMNS}) VALUES (${valuesOf(sql, job)})`;
  const binds = bindsOf(job, hash);
  if (sql.dialect === "mysql") return replaceOnMysql(sql, { job, insert, binds, hash });
  const changes = REPLACED.map((column) => `${column} = excluded.${column}`).join(", ");
  const earlier = "CASE WHEN framework_jobs.due < excluded.due THEN framework_jobs.due ELSE excluded.due END";
  const { rows } = await sql.run(
    `${insert} ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET ${changes}, due = ${earlier} RETURNING id`,
    binds,
  );
  return dispatchedAs(job, String(rows[0]?.["id"]), "replaced");
}

interface MysqlReplacement {
  readonly job: NewJob;
  readonly insert: string;
  readonly binds: readonly (string | null)[];
  readonly hash: string;
}

/** The row is locked until the commit, so no worker takes it between the two statements. */
function replaceOnMysql(sql: JobSql, { job, insert, binds, hash }: MysqlReplacement): Promise<Dispatched> {
  const changes = REPLACED.map((column) => `${column} = VALUES(${column})`).join(", ");
  return sql.database.current(async () => {
    await sql.run(`${insert} ON DUPLICATE KEY UPDATE ${changes}, due = LEAST(due, VALUES(due))`, binds);
    const { rows } = await sql.run("SELECT id FROM framework_jobs WHERE wait_key = ? FOR UPDATE", [hash]);
    return dispatchedAs(job, String(rows[0]?.["id"]), "replaced");
  });
}

async function keepExisting(sql: JobSql, job: NewJob, hash: string): Promise<Dispatched> {
  const isMysql = sql.dialect === "mysql";
  const [insert, ignore] = isMysql ? ["INSERT IGNORE INTO", ""] : ["INSERT INTO", "ON CONFLICT DO NOTHING"];
  const statement = `${insert} framework_jobs (${COLUMNS}) SELECT ${valuesOf(sql, job)}${isMysql ? " FROM DUAL" : ""} WHERE NOT EXISTS (SELECT 1 FROM framework_jobs WHERE job_key = ?) ${ignore}`;
  // In a transaction MySQL reads as of its first read, unless it locks: the insert then meets a job that the select does not see.
  const latest = isMysql ? " LOCK IN SHARE MODE" : "";
  for (let left = TRIES; left > 0; left--) {
    const { affected } = await sql.run(statement, [...bindsOf(job, hash), hash]);
    if (affected > 0) return { outcome: "created", id: job.id };
    const { rows } = await sql.run(`SELECT id FROM framework_jobs WHERE job_key = ?${latest}`, [hash]);
    const [row] = rows;
    if (row !== undefined) return dispatchedAs(job, String(row["id"]), "kept");
    // The other job was completed between the two statements.
  }
  throw new FrameworkError(`jobs of ${job.name} with one key come and go too fast to add one`, { code: "E_JOB_KEY" });
}

function dispatchedAs(job: NewJob, id: string, outcome: "replaced" | "kept"): Dispatched {
  return { outcome: id === job.id ? "created" : outcome, id };
}

/** One bind for each text column, then the numbers. */
function valuesOf({ dialect, now }: JobSql, { priority, maxAttempts, delayMs }: NewJob): string {
  const text = dialect === "postgres" ? "CAST(? AS text)" : "?";
  const texts = Array.from({ length: 10 }, () => text).join(", ");
  return `${texts}, ${literal(priority)}, ${literal(maxAttempts)}, ${now} + ${literal(delayMs)}`;
}

function bindsOf(
  { id, name, queue, payload, requestId, traceparent, tracestate, unique }: NewJob,
  hash: string | null = null,
): readonly (string | null)[] {
  const hold = unique === "until-done" ? hash : null;
  return [id, name, queue, payload, requestId ?? null, traceparent ?? null, tracestate ?? null, hash, hash, hold];
}
