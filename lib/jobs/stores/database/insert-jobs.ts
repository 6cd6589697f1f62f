/**
 * Adds jobs to the tables. Many jobs without a key are the rows of one statement, or of a few if their payloads are large. Unique indexes
 * bound the jobs with a key: `wait_key` is set while a job waits, and `hold_key` is set on a job that is unique until it is done. The
 * columns have hashes of name and key, so that no collation of an engine treats two keys as equal.
 *
 * The index keeps a dispatch waiting, with its connection, while another transaction holds the key. This wait is bounded; without a bound,
 * dispatches with one key hold all connections of the pool. MySQL, other than MariaDB, has no bound for one statement: there the option
 * `lockTimeoutMs` of the driver is the bound. SQLite has one writer, and its driver bounds the wait for it.
 */
import { createHash } from "node:crypto";
import { currentCommitScope } from "../../../lifecycle/commit-scope.js";
import { SystemClock } from "../../../runtime/clock.js";
import { isFailure, type JobRows, type JobSql, literal } from "./job-sql.js";
import type { Dispatched, NewJob } from "../../job-store.js";
import { createKeyLockedError, createKeyContentionError, MAX_KEY_WAIT_MS } from "./key-mutex.js";

const COLUMNS =
  "id, name, queue, payload, request_id, traceparent, tracestate, job_key, wait_key, hold_key, concurrency_key, priority, max_attempts, concurrency_limit, due";
const TRIES = 5;
/** A server refuses a statement above its limit: MariaDB above 16 MiB, unless its `max_allowed_packet` is set. */
const MAX_STATEMENT_BYTES = 2_097_152;

/** The columns that a waiting job takes from the new job with its key. */
const REPLACED = [
  "payload",
  "request_id",
  "traceparent",
  "tracestate",
  "queue",
  "priority",
  "max_attempts",
  "concurrency_key",
  "concurrency_limit",
];

export async function insertJobs(sql: JobSql, jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
  await insertPlain(
    sql,
    jobs.filter(({ key }) => key === undefined),
  );
  const results: Dispatched[] = [];
  for (const job of jobs) results.push(await insertKeyed(sql, job));
  return results;
}

/** Adds all jobs or none, because a repeated call must not find a part of them. */
async function insertPlain(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const insert = sql.family === "postgres" ? insertUniformBatch : insertRows;
  const [first, ...others] = splitJobs(jobs);
  if (first === undefined) return;
  if (others.length === 0) return insert(sql, first);
  await sql.database.transaction(async () => {
    for (const part of [first, ...others]) await insert(sql, part);
  });
}

/** Divides the jobs among statements. The jobs of one statement differ only in ids, payloads, traces and concurrency keys. */
function splitJobs(jobs: readonly NewJob[]): readonly (readonly NewJob[])[] {
  const parts: NewJob[][] = [];
  let part: NewJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const length = Buffer.byteLength(job.payload);
    if (!isAlike(job, part[0]) || bytes + length > MAX_STATEMENT_BYTES) {
      part = [];
      bytes = 0;
      parts.push(part);
    }
    part.push(job);
    bytes += length;
  }
  return parts;
}

function isAlike(one: NewJob, other: NewJob | undefined): boolean {
  return (
    one.name === other?.name &&
    one.queue === other.queue &&
    one.priority === other.priority &&
    one.maxAttempts === other.maxAttempts &&
    one.delayMs === other.delayMs &&
    one.concurrency?.limit === other.concurrency?.limit &&
    one.requestId === other.requestId &&
    one.tracestate === other.tracestate
  );
}

async function insertRows(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const values = jobs.map((job) => `(${buildValues(sql, job)})`).join(", ");
  await sql.run(
    `INSERT INTO framework_jobs (${COLUMNS}) VALUES ${values}`,
    jobs.flatMap((job) => listBinds(job)),
  );
}

/**
 * A few binds carry all jobs. The text of the statement is always the same, so the server parses it once, and it reads the common values of
 * the jobs once. The payloads are JSON, and stand in their list unchanged.
 */
async function insertUniformBatch(sql: JobSql, jobs: readonly NewJob[]): Promise<void> {
  const [first] = jobs;
  if (first === undefined) return;
  const texts = [first.name, first.queue, first.requestId ?? null, first.tracestate ?? null];
  const numbers = [first.priority, first.maxAttempts, first.concurrency?.limit ?? 0, first.delayMs];
  const list = "unnest(string_to_array(?, ',', ''))";
  const lists = `${list}, json_array_elements(CAST(? AS json)), ${list}, ${list}`;
  const common = `${Array.from(texts, () => "CAST(? AS text)").join(", ")}, CAST(? AS integer), CAST(? AS integer), CAST(? AS integer), (SELECT ${sql.now}) + CAST(? AS bigint)`;
  await sql.run(
    `INSERT INTO framework_jobs (name, queue, request_id, tracestate, priority, max_attempts, concurrency_limit, due, id, payload, traceparent, concurrency_key) SELECT ${common}, job.* FROM ROWS FROM (${lists}) AS job`,
    [
      ...texts,
      ...numbers.map(literal),
      joinValues(jobs, ({ id }) => id),
      `[${joinValues(jobs, ({ payload }) => payload)}]`,
      joinValues(jobs, ({ traceparent }) => traceparent),
      joinValues(jobs, hashConcurrencyKey),
    ],
  );
}

/** Joins the values with commas. An empty value stands for null. */
function joinValues(jobs: readonly NewJob[], pick: (job: NewJob) => string | undefined): string {
  return jobs.map(pick).join(",");
}

/** The hash that a row has in place of the key. */
export function hashKey(name: string, key: string): string {
  return createHash("sha256").update(`${name}\n${key}`).digest("hex");
}

async function insertKeyed(sql: JobSql, job: NewJob): Promise<Dispatched> {
  const { key, name, unique } = job;
  if (key === undefined) return { outcome: "created", id: job.id };
  const hash = hashKey(name, key);
  const work = () => (unique === "waiting" ? replaceWaiting(sql, job, hash) : keepExisting(sql, job, hash));
  try {
    if (sql.family === "sqlite" || currentCommitScope() !== undefined) return await work();
    return await sql.keyMutex.run({ name, hash }, sql.clock ?? new SystemClock(), work);
  } catch (error) {
    throw sql.family !== "sqlite" && isFailure(error, "busy") ? createKeyLockedError(name) : error;
  }
}

async function replaceWaiting(sql: JobSql, job: NewJob, hash: string): Promise<Dispatched> {
  const insert = `INSERT INTO framework_jobs (${COLUMNS}) SELECT ${buildValues(sql, job)} ${getBoundSource(sql)}`;
  const binds = listBinds(job, hash);
  if (sql.family === "mysql") return replaceOnMysql(sql, { job, insert, binds, hash });
  const changes = REPLACED.map((column) => `${column} = excluded.${column}`).join(", ");
  const earlier = "CASE WHEN framework_jobs.due < excluded.due THEN framework_jobs.due ELSE excluded.due END";
  const { rows } = await insertBounded(
    sql,
    `${insert} WHERE true ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET ${changes}, due = ${earlier} RETURNING id`,
    binds,
  );
  return toDispatched(job, String(rows[0]?.["id"]), "replaced");
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
    const replace = `${insert} ON DUPLICATE KEY UPDATE ${changes}, due = LEAST(due, VALUES(due))`;
    await insertBounded(sql, replace, binds);
    const { rows } = await sql.run("SELECT id FROM framework_jobs WHERE wait_key = ? FOR UPDATE", [hash]);
    return toDispatched(job, String(rows[0]?.["id"]), "replaced");
  });
}

async function keepExisting(sql: JobSql, job: NewJob, hash: string): Promise<Dispatched> {
  const isMysql = sql.family === "mysql";
  const values = `SELECT ${buildValues(sql, job)} ${getBoundSource(sql)}`;
  const isNew = "WHERE NOT EXISTS (SELECT 1 FROM framework_jobs WHERE job_key = ?)";
  const insert = isMysql
    ? `INSERT IGNORE INTO framework_jobs (${COLUMNS}) ${values} ${isNew}`
    : `INSERT INTO framework_jobs (${COLUMNS}) ${values} ${isNew} ON CONFLICT DO NOTHING RETURNING id`;
  // In a transaction MySQL reads as of its first read, unless it locks: the insert then meets a job that the select does not see.
  const latest = isMysql ? " LOCK IN SHARE MODE" : "";
  for (let left = TRIES; left > 0; left--) {
    const { rows: added, affected } = await insertBounded(sql, insert, [...listBinds(job, hash), hash]);
    if (isMysql ? affected > 0 : typeof added[0]?.["id"] === "string") return { outcome: "created", id: job.id };
    const { rows } = await sql.run(`SELECT id FROM framework_jobs WHERE job_key = ?${latest}`, [hash]);
    const [row] = rows;
    if (row !== undefined) return toDispatched(job, String(row["id"]), "kept");
    // The other job was completed between the two statements.
  }
  throw createKeyContentionError(job.name);
}

/**
 * Runs an insert of one row `RETURNING id` so that it waits for a lock for a bounded time. On PostgreSQL the setting returns to its old
 * value in the same statement, so that the transaction of the caller is not bound by it. MariaDB reads the comment as a part of the
 * statement.
 */
function insertBounded(sql: JobSql, insert: string, parameters: readonly (string | null)[]): Promise<JobRows> {
  if (sql.family === "sqlite") return sql.run(insert, parameters);
  if (sql.family === "mysql") {
    const bound = `/*M!100100 SET STATEMENT innodb_lock_wait_timeout = LEAST(@@innodb_lock_wait_timeout, ${MAX_KEY_WAIT_MS / 1000}) FOR */`;
    return sql.run(`${bound} ${insert}`, parameters);
  }
  const isLonger = `value = '0' OR CAST(value AS interval) > interval '${MAX_KEY_WAIT_MS} ms'`;
  const shorter = `CASE WHEN ${isLonger} THEN '${MAX_KEY_WAIT_MS}' ELSE value END`;
  const old = "old AS MATERIALIZED (SELECT current_setting('lock_timeout') AS value)";
  const bound = `bound AS MATERIALIZED (SELECT value, set_config('lock_timeout', ${shorter}, true) FROM old)`;
  const added = `added AS (${insert}), done AS MATERIALIZED (SELECT MAX(id) AS id FROM added)`;
  return sql.run(
    `WITH ${old}, ${bound}, ${added} SELECT id, set_config('lock_timeout', value, true) FROM done, bound`,
    parameters,
  );
}

/** On PostgreSQL the row of an insert is selected from `bound`, so that the server sets the bound before it inserts. */
function getBoundSource({ family }: JobSql): string {
  return { postgres: "FROM bound", mysql: "FROM DUAL", sqlite: "FROM (SELECT 1)" }[family];
}

function toDispatched(job: NewJob, id: string, outcome: "replaced" | "kept"): Dispatched {
  return { outcome: id === job.id ? "created" : outcome, id };
}

/** One bind for each text column, then the numbers. */
function buildValues({ family, now }: JobSql, { priority, maxAttempts, concurrency, delayMs }: NewJob): string {
  const text = family === "postgres" ? "CAST(? AS text)" : "?";
  const texts = Array.from({ length: 11 }, () => text).join(", ");
  return `${texts}, ${literal(priority)}, ${literal(maxAttempts)}, ${literal(concurrency?.limit ?? 0)}, ${now} + ${literal(delayMs)}`;
}

function listBinds(job: NewJob, hash: string | null = null): readonly (string | null)[] {
  const { id, name, queue, payload, requestId = null, traceparent = null, tracestate = null, unique } = job;
  const holdKey = unique === "until-done" ? hash : null;
  const concurrencyHash = hashConcurrencyKey(job) ?? null;
  return [id, name, queue, payload, requestId, traceparent, tracestate, hash, hash, holdKey, concurrencyHash];
}

function hashConcurrencyKey({ name, concurrency }: NewJob): string | undefined {
  return concurrency === undefined ? undefined : hashKey(name, concurrency.key);
}
