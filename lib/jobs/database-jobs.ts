/**
 * The jobs in a database of the application: SQLite, PostgreSQL 12 or MySQL 8 and MariaDB 10.6. A dispatch is part of the transaction of
 * the caller. The migration `jobsMigration` makes the tables.
 *
 * `new Jobs()` uses it by itself where the application has one database.
 *
 * @example
 * provide(Jobs).useFactory((resolve) => new Jobs({ store: new DatabaseJobs(resolve(ShopDatabase)), concurrency: 20 }));
 */
import { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { currentCommitScope } from "../lifecycle/commit-scope.js";
import type { SubsystemHost } from "../lifecycle/operations.js";
import { SystemClock } from "../runtime/clock.js";
import { Announcements } from "./announcements.js";
import { claimForTransit, claimJobs, type JobInTransit } from "./claim-jobs.js";
import { binds, type JobDatabase, JobSql, type JobRows, literal } from "./job-sql.js";
import { insertJobs } from "./insert-jobs.js";
import { lastTick, MOST_AHEAD_MS, recordTick } from "./job-ticks.js";
import type {
  ClaimedJob,
  ClaimRequest,
  DeadJob,
  Dispatched,
  JobClaim,
  JobCounts,
  JobFailure,
  JobStore,
  NewJob,
  ReapedJob,
} from "./job-store.js";

const MOST_REAPED = 500;
const RETRIES = 4;
/** The columns that a dead job keeps. */
const KEPT = "id, name, queue, priority, payload, max_attempts, attempt, token, request_id, traceparent, tracestate";

export interface DatabaseJobsOptions {
  /**
   * Only on PostgreSQL: `NOTIFY` tells the workers of other processes of committed jobs at once. It takes one further connection for each
   * worker process. The workers poll as well. `false` unless set.
   */
  readonly notify?: boolean;
}

const NAMES: OptionNames<DatabaseJobsOptions> = { notify: true };

export class DatabaseJobs implements JobStore {
  private readonly sql: JobSql;
  private readonly notifies: boolean;
  private announcements: Announcements | undefined;

  /** @throws FrameworkError `E_OPTION` */
  constructor(
    private readonly database: JobDatabase,
    options: DatabaseJobsOptions = {},
  ) {
    checkOptionNames(options, NAMES, "new DatabaseJobs");
    this.sql = new JobSql(database);
    this.notifies = options.notify === true && this.sql.dialect === "postgres";
  }

  /** A transaction of another database may roll back after the row is committed here. */
  get joinsTransactions(): boolean {
    return this.database.ownsTransaction?.() ?? true;
  }

  /** The clock of a test takes the place of the clock of the database. */
  prepare({ clock }: Pick<SubsystemHost, "clock">): void {
    this.sql.clock = clock instanceof SystemClock ? undefined : clock;
    if (this.notifies) this.announcements = new Announcements(this.sql, clock);
  }

  stop(): void {
    this.announcements?.end();
  }

  onWake(listener: () => void): () => void {
    return this.announcements?.listen(listener) ?? (() => {});
  }

  announce(): void {
    this.announcements?.announce();
  }

  add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    return this.repeated(() => insertJobs(this.sql, jobs));
  }

  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]> {
    return this.repeated(() => claimJobs(this.sql, request));
  }

  /** Like `claim`, for a relay to another queue. @internal */
  claimForTransit(request: ClaimRequest): Promise<readonly JobInTransit[]> {
    return this.repeated(() => claimForTransit(this.sql, request));
  }

  complete(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    return this.repeated(async () => {
      const deleted = this.sql.dialect === "mysql" ? await this.deleteLocked(claims) : await this.deleteHeld(claims);
      return claims.filter(({ id }) => !deleted.has(id));
    });
  }

  fail(claim: JobClaim, { reason, retryInMs }: JobFailure): Promise<boolean> {
    return this.repeated(() =>
      retryInMs === undefined ? this.bury(claim, reason) : this.putBack(claim, { delayMs: retryInMs, attempts: 0 }),
    );
  }

  async giveBack(claims: readonly JobClaim[]): Promise<void> {
    for (const claim of claims) await this.repeated(() => this.putBack(claim, { delayMs: 0, attempts: -1 }));
  }

  renew(claims: readonly JobClaim[], leaseMs: number): Promise<readonly JobClaim[]> {
    return this.repeated(async () => {
      const lost: JobClaim[] = [];
      for (const claim of claims) {
        const { affected } = await this.sql.run(
          `UPDATE framework_jobs SET leased_until = ${this.sql.now} + ${literal(leaseMs)} WHERE ${held(claim)}`,
          [claim.id],
        );
        if (affected === 0) lost.push(claim);
      }
      return lost;
    });
  }

  async beat(worker: string): Promise<boolean> {
    const { now } = this.sql;
    const { affected } = await this.sql.run(`UPDATE framework_job_workers SET beat_at = ${now} WHERE id = ?`, [worker]);
    if (affected > 0) return true;
    const known = await this.sql.run("SELECT id FROM framework_job_workers WHERE id = ?", [worker]);
    if (known.rows.length > 0) return true;
    await this.sql.run(`INSERT INTO framework_job_workers (id, beat_at) VALUES (?, ${now})`, [worker]);
    return false;
  }

  async leave(worker: string): Promise<void> {
    await this.sql.run("DELETE FROM framework_job_workers WHERE id = ?", [worker]);
  }

  async reap(deadAfterMs: number): Promise<readonly ReapedJob[]> {
    const reaped: ReapedJob[] = [];
    for (const row of await this.lost(deadAfterMs)) {
      const job = reapedJob(row);
      if (await this.fail(claimOf(row), { reason: DEATH, retryInMs: job.isDead ? undefined : 0 })) reaped.push(job);
    }
    return reaped;
  }

  /** As `reap`, for a relay: a job that was not handed over has had no attempt. @internal */
  async returnLost(deadAfterMs: number): Promise<void> {
    await this.giveBack((await this.lost(deadAfterMs)).map(claimOf));
  }

  tick(schedule: string, due: number, job: NewJob | undefined): Promise<boolean> {
    return this.repeated(() => recordTick(this.sql, { schedule, due, job }));
  }

  lastTick(schedule: string): Promise<number | undefined> {
    return lastTick(this.sql, schedule);
  }

  async now(): Promise<number> {
    const { rows } = await this.sql.run(`SELECT ${this.sql.now} AS at_ms`);
    return Number(rows[0]?.["at_ms"]);
  }

  async dead(limit: number): Promise<readonly DeadJob[]> {
    const { rows } = await this.sql.run(
      `SELECT id, name, queue, attempt, reason, died_at FROM framework_dead_jobs ORDER BY died_at DESC, id DESC LIMIT ${literal(limit)}`,
    );
    return rows.map((row) => ({
      id: String(row["id"]),
      name: String(row["name"]),
      queue: String(row["queue"]),
      attempt: Number(row["attempt"]),
      reason: String(row["reason"]),
      diedAt: Number(row["died_at"]),
    }));
  }

  revive(id: string): Promise<boolean> {
    const revived = async (): Promise<boolean> => {
      // Locks the row: of several callers one revives the job, and the others find none.
      const { affected } = await this.sql.run("UPDATE framework_dead_jobs SET token = token + 1 WHERE id = ?", [id]);
      if (affected === 0) return false;
      const columns = KEPT.replace("attempt, token", "token");
      await this.sql.run(
        `INSERT INTO framework_jobs (${columns}, attempt, due) SELECT ${columns}, 0, ${this.sql.now} FROM framework_dead_jobs WHERE id = ?`,
        [id],
      );
      await this.sql.run("DELETE FROM framework_dead_jobs WHERE id = ?", [id]);
      return true;
    };
    return this.repeated(() => this.database.transaction(revived));
  }

  async counts(): Promise<JobCounts> {
    const count = async (sql: string): Promise<number> => Number((await this.sql.run(sql)).rows[0]?.["jobs"]);
    return {
      waiting: await count("SELECT COUNT(*) AS jobs FROM framework_jobs WHERE worker IS NULL"),
      running: await count("SELECT COUNT(*) AS jobs FROM framework_jobs WHERE worker IS NOT NULL"),
      dead: await count("SELECT COUNT(*) AS jobs FROM framework_dead_jobs"),
    };
  }

  /** Forgets the workers that were silent, and finds the jobs that no worker holds any longer. */
  private async lost(deadAfterMs: number): Promise<JobRows["rows"]> {
    const { now } = this.sql;
    // The clock was ahead at the last beat, and was set back since: a dead worker must not seem to be alive until then.
    await this.sql.run(`UPDATE framework_job_workers SET beat_at = ${now} WHERE beat_at > ${now} + ${MOST_AHEAD_MS}`);
    await this.sql.run(`DELETE FROM framework_job_workers WHERE beat_at < ${now} - ${literal(deadAfterMs)}`);
    const { rows } = await this.sql.run(
      `SELECT id, token, name, queue, attempt, max_attempts FROM framework_jobs WHERE worker IS NOT NULL AND (leased_until <= ${now} OR worker NOT IN (SELECT id FROM framework_job_workers)) LIMIT ${MOST_REAPED}`,
    );
    return rows;
  }

  private async deleteHeld(claims: readonly JobClaim[]): Promise<ReadonlySet<string>> {
    const { sql, parameters } = pairs(this.sql, claims);
    return idsOf(
      await this.sql.run(
        `DELETE FROM framework_jobs WHERE worker IS NOT NULL AND ${sql} RETURNING id${this.sql.planMark}`,
        parameters,
      ),
    );
  }

  /** On MySQL a delete returns no rows. */
  private async deleteLocked(claims: readonly JobClaim[]): Promise<ReadonlySet<string>> {
    const { sql, parameters } = pairs(this.sql, claims);
    const locked = `SELECT id FROM framework_jobs WHERE worker IS NOT NULL AND ${sql} FOR UPDATE`;
    return this.database.transaction(
      async () => {
        const ids = idsOf(await this.sql.run(locked, parameters));
        if (ids.size > 0) await this.sql.run(`DELETE FROM framework_jobs WHERE id IN ${binds(ids.size)}`, [...ids]);
        return ids;
      },
      { isolation: "read committed" },
    );
  }

  /** If another job with the same key waits already, it replaces this job, which is dropped. */
  private async putBack(
    claim: JobClaim,
    { delayMs, attempts }: { delayMs: number; attempts: number },
  ): Promise<boolean> {
    const due = `${this.sql.now} + ${literal(Math.trunc(delayMs))}`;
    try {
      const { affected } = await this.sql.run(
        `UPDATE framework_jobs SET worker = NULL, leased_until = NULL, due = ${due}, attempt = attempt + ${literal(attempts)}, wait_key = job_key WHERE ${held(claim)}`,
        [claim.id],
      );
      return affected > 0;
    } catch (error) {
      if (!isFailure(error, "unique")) throw error;
      const { affected } = await this.sql.run(`DELETE FROM framework_jobs WHERE ${held(claim)}`, [claim.id]);
      return affected > 0;
    }
  }

  private bury(claim: JobClaim, reason: string): Promise<boolean> {
    return this.database.transaction(async () => {
      // Locks the row, and ends the claim.
      const { affected } = await this.sql.run(
        `UPDATE framework_jobs SET worker = NULL, wait_key = NULL, token = token + 1 WHERE ${held(claim)}`,
        [claim.id],
      );
      if (affected === 0) return false;
      const text = this.sql.dialect === "postgres" ? "CAST(? AS text)" : "?";
      await this.sql.run(
        `INSERT INTO framework_dead_jobs (${KEPT}, reason, died_at) SELECT ${KEPT}, ${text}, ${this.sql.now} FROM framework_jobs WHERE id = ?`,
        [reason.replaceAll("\u0000", ""), claim.id],
      );
      await this.sql.run("DELETE FROM framework_jobs WHERE id = ?", [claim.id]);
      return true;
    });
  }

  /** Repeats the work after a conflict with another transaction. In a transaction of the caller only the caller can do this. */
  private async repeated<T>(work: () => Promise<T>): Promise<T> {
    for (let left = currentCommitScope() === undefined ? RETRIES : 0; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (left <= 0 || !(isFailure(error, "deadlock") || isFailure(error, "serialization"))) throw error;
      }
    }
  }
}

const DEATH = "the worker died, or its lease ended";

function held({ token }: JobClaim): string {
  return `worker IS NOT NULL AND token = ${literal(token)} AND id = ?`;
}

function pairs({ dialect }: JobSql, claims: readonly JobClaim[]) {
  const [first] = claims;
  if (first !== undefined && claims.length === 1)
    return { sql: `token = ${literal(first.token)} AND id = ?`, parameters: [first.id] };
  const rows = claims.map(({ token }) => `(?, ${literal(token)})`).join(", ");
  const sql = `(id, token) IN (${dialect === "sqlite" ? `VALUES ${rows}` : rows})`;
  return { sql, parameters: claims.map(({ id }) => id) };
}

function idsOf({ rows }: JobRows): ReadonlySet<string> {
  return new Set(rows.map((row) => String(row["id"])));
}

function claimOf(row: Readonly<Record<string, unknown>>): JobClaim {
  return { id: String(row["id"]), token: Number(row["token"]) };
}

function reapedJob(row: Readonly<Record<string, unknown>>): ReapedJob {
  const attempt = Number(row["attempt"]);
  const isDead = attempt >= Number(row["max_attempts"]);
  return { id: String(row["id"]), name: String(row["name"]), queue: String(row["queue"]), attempt, isDead };
}

/** The kind of a `DatabaseError`, by its shape. */
function isFailure(error: unknown, kind: string): boolean {
  return error instanceof FrameworkError && "kind" in error && error.kind === kind;
}
