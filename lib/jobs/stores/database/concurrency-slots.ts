/**
 * Concurrency keys in the tables. A claimed row has one slot of its key, which a unique index enforces. The slot ends with the row or with
 * its claim, so no counter can be left too high. A job without a slot is blocked: its due time is moved far ahead, where no claim reads it.
 * When a claim of the key ends, the first blocked jobs are due again.
 *
 * A process may die before it has woken the blocked jobs. The reaper finds the keys that have only blocked jobs.
 */
import { createHash } from "node:crypto";
import { binds, isFailure, type JobRow, type JobSql, literal } from "./job-sql.js";
import { releaseClaimed } from "./claimed-jobs.js";
import type { ClaimedJob, ClaimRequest, ConcurrencyKey, JobClaim } from "../../job-store.js";

/**
 * Larger than each due time. The `due` of a blocked job, divided by this number, has its due time as the remainder and its priority plus
 * one as the quotient.
 */
const BLOCKED = 10_000_000_000_000;
const BLOCKED_DUE = `due + (priority + 1) * ${BLOCKED}`;
/** The due time of a waiting job, blocked or not. */
export function getDueTime(due: number): number {
  return due % BLOCKED;
}

/** The maximum number of waiting jobs that one statement blocks. */
const MAX_BLOCKED = 2000;
const MAX_ROUNDS = 10;
/** The maximum number of keys that one search for forgotten jobs returns. */
const MAX_KEYS = 500;
/** A job that may run before the blocked ones: it is claimed, or due in a queue that is not paused. */
const UNPAUSED = "(worker IS NOT NULL OR queue NOT IN (SELECT queue FROM framework_job_queues))";

export class ConcurrencySlots {
  /** @param withRetries runs the work again after a conflict with another transaction */
  constructor(
    private readonly sql: JobSql,
    private readonly withRetries: <T>(work: () => Promise<T>) => Promise<T>,
  ) {}

  /** Claims further jobs in place of those that are blocked. */
  async claim(
    { limit }: ClaimRequest,
    claimSome: (limit: number) => Promise<readonly ClaimedJob[]>,
  ): Promise<readonly ClaimedJob[]> {
    const claimed: ClaimedJob[] = [];
    for (let left = MAX_ROUNDS; left > 0 && claimed.length < limit; left--) {
      const jobs = await claimSome(limit - claimed.length);
      const blocked = await this.assignSlots(jobs);
      claimed.push(...jobs.filter((job) => !blocked.has(job)));
      if (blocked.size === 0) break;
    }
    return claimed;
  }

  /** Wakes blocked jobs after claims of their keys have ended. If this fails, the reaper repeats it. */
  async wakeBlocked(claims: readonly JobClaim[]): Promise<void> {
    const keys = listKeys(claims);
    if (keys.length === 0) return;
    await this.withRetries(() => this.wake(keys)).catch(() => {});
  }

  /** Wakes the first blocked job of each key that has no other job which could run. */
  async wakeForgotten(): Promise<void> {
    const { rows } = await this.sql.run(selectForgottenKeys(this.sql));
    const keys = rows.map((row) => ({ key: String(row["concurrency_key"]), limit: 1 }));
    await this.withRetries(() => this.wake(keys));
  }

  /** Assigns slots to the claimed jobs. Returns the jobs without a slot, which wait again. */
  private async assignSlots(jobs: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    const bounded = jobs.filter(({ concurrency }) => concurrency !== undefined);
    if (bounded.length === 0) return new Set();
    const blocked = await this.withRetries(() => this.takeSlots(bounded));
    if (blocked.length === 0) return new Set();
    await this.withRetries(() =>
      releaseClaimed(this.sql, blocked, { delayMs: 0, countsAttempt: false, due: BLOCKED_DUE }),
    );
    const keys = listKeys(blocked);
    for (const { key } of keys) await this.withRetries(() => this.blockWaiting(key));
    // A slot may have become free since the search, and the job that freed it did not see the blocked ones.
    await this.withRetries(() => this.wake(keys));
    return new Set(blocked);
  }

  private async takeSlots(jobs: readonly ClaimedJob[]): Promise<readonly ClaimedJob[]> {
    const names = listKeys(jobs).flatMap(listSlots);
    const used = `SELECT slot_key FROM framework_jobs WHERE slot_key IN ${binds(names.length)}`;
    const taken = new Set((await this.sql.run(used, names)).rows.map((row) => String(row["slot_key"])));
    const blocked: ClaimedJob[] = [];
    for (const job of jobs) {
      const free = job.concurrency === undefined ? [] : listSlots(job.concurrency).filter((slot) => !taken.has(slot));
      // A random slot avoids conflicts with workers that take slots at the same time.
      const slot = free[Math.floor(Math.random() * free.length)];
      if (slot === undefined || !(await this.takeSlot(job, slot))) blocked.push(job);
      else taken.add(slot);
    }
    return blocked;
  }

  private async takeSlot({ id, token }: JobClaim, slot: string): Promise<boolean> {
    const update = `UPDATE framework_jobs SET slot_key = ? WHERE worker IS NOT NULL AND token = ${literal(token)} AND id = ?`;
    try {
      await this.sql.run(update, [slot, id]);
      return true;
    } catch (error) {
      if (isFailure(error, "unique")) return false;
      throw error;
    }
  }

  /** Blocks the waiting jobs of a full key. Otherwise each of them would be claimed once. */
  private async blockWaiting(key: string): Promise<void> {
    const { family, now, database } = this.sql;
    const [hint, lock] = {
      sqlite: ["", ""],
      postgres: ["", "FOR UPDATE SKIP LOCKED"],
      mysql: ["FORCE INDEX (framework_jobs_concurrency)", "FOR UPDATE SKIP LOCKED"],
    }[family];
    const some = `SELECT id FROM framework_jobs ${hint} WHERE concurrency_key = ? AND due <= (SELECT ${now}) AND worker IS NULL ORDER BY due, id LIMIT ${MAX_BLOCKED} ${lock}`;
    const block = `UPDATE framework_jobs SET due = ${BLOCKED_DUE} WHERE id IN`;
    if (family !== "mysql") return void (await this.sql.run(`${block} (${some})`, [key]));
    await database.transaction(
      async () => {
        const ids = (await this.sql.run(some, [key])).rows.map((row) => String(row["id"]));
        if (ids.length > 0) await this.sql.run(`${block} ${binds(ids.length)}`, ids);
      },
      { isolation: "read committed" },
    );
  }

  /** Makes blocked jobs due. For each key: the number of free slots, minus its jobs that are already due. */
  private async wake(keys: readonly ConcurrencyKey[]): Promise<void> {
    const { now } = this.sql;
    for (const { key, limit } of keys) {
      const others = `SELECT 1 AS one FROM framework_jobs WHERE concurrency_key = ? AND due <= (SELECT ${now}) AND ${UNPAUSED} LIMIT ${literal(limit)}`;
      const { rows } = await this.sql.run(`SELECT COUNT(*) AS jobs FROM (${others}) AS bounded`, [key]);
      const free = limit - Number(rows[0]?.["jobs"]);
      if (free <= 0) continue;
      const first = `SELECT id FROM framework_jobs WHERE concurrency_key = ? AND due >= ${BLOCKED} AND ${UNPAUSED} ORDER BY due LIMIT ${free}`;
      const ids = (await this.sql.run(first, [key])).rows.map((row) => String(row["id"]));
      if (ids.length === 0) continue;
      const where = `worker IS NULL AND due >= ${BLOCKED} AND id IN ${binds(ids.length)}`;
      await this.sql.run(`UPDATE framework_jobs SET due = due % ${BLOCKED} WHERE ${where}`, ids);
    }
  }
}

/** The key of a row. */
export function getConcurrency(row: JobRow): ConcurrencyKey | undefined {
  const [key, limit] = [row["concurrency_key"], Number(row["concurrency_limit"] ?? 0)];
  return typeof key === "string" && limit > 0 ? { key, limit } : undefined;
}

/** Each key once, with the largest of its limits. */
function listKeys(claims: readonly JobClaim[]): readonly ConcurrencyKey[] {
  const limits = new Map<string, number>();
  for (const { concurrency } of claims)
    if (concurrency !== undefined)
      limits.set(concurrency.key, Math.max(concurrency.limit, limits.get(concurrency.key) ?? 0));
  return [...limits].map(([key, limit]) => ({ key, limit }));
}

function listSlots({ key, limit }: ConcurrencyKey): readonly string[] {
  return Array.from({ length: limit }, (_, slot) => createHash("sha256").update(`${key}\n${slot}`).digest("hex"));
}

/** Selects the keys that have only blocked jobs. The statement walks from key to key in the index, and does not read each job. */
function selectForgottenKeys({ family, now }: JobSql): string {
  if (family === "mysql")
    return `SELECT concurrency_key FROM framework_jobs WHERE concurrency_key IS NOT NULL GROUP BY concurrency_key HAVING MAX(due) >= ${BLOCKED} AND MIN(due) > ${now} LIMIT ${MAX_KEYS}`;
  const next = "SELECT MIN(concurrency_key) FROM framework_jobs WHERE concurrency_key IS NOT NULL";
  const walk = `WITH RECURSIVE walk (concurrency_key) AS (${next} UNION ALL SELECT (${next} AND framework_jobs.concurrency_key > walk.concurrency_key) FROM walk WHERE walk.concurrency_key IS NOT NULL)`;
  return `${walk} SELECT concurrency_key FROM walk WHERE concurrency_key IS NOT NULL AND ${hasJobs(`due >= ${BLOCKED}`)} AND NOT ${hasJobs(`due <= (SELECT ${now}) AND ${UNPAUSED}`)} LIMIT ${MAX_KEYS}`;
}

function hasJobs(condition: string): string {
  return `EXISTS (SELECT 1 FROM framework_jobs WHERE framework_jobs.concurrency_key = walk.concurrency_key AND ${condition})`;
}
