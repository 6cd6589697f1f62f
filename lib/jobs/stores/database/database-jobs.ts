/**
 * The jobs in a database of the application: SQLite, PostgreSQL 12 or MySQL 8 and MariaDB 10.6. A dispatch is part of the transaction of
 * the caller. The migrations `jobsMigrations` create the tables.
 *
 * `new Jobs()` uses it by default if the application has one database.
 *
 * @example
 * provide(Jobs).useFactory((resolve) => new Jobs({ store: new DatabaseJobs(resolve(ShopDatabase)), concurrency: 20 }));
 */
import { currentCommitScope } from "../../../lifecycle/commit-scope.js";
import type { SubsystemHost } from "../../../lifecycle/operations.js";
import { SystemClock } from "../../../runtime/clock.js";
import { Announcements } from "./announcements.js";
import { ConcurrencySlots } from "./concurrency-slots.js";
import { claimForTransit, claimJobs, type JobInTransit } from "./claim-jobs.js";
import { DatabaseAdmin } from "./database-admin.js";
import type { JobAdmin } from "../../job-admin.js";
import {
  deadLetterClaimed,
  DEAD_COLUMNS,
  markStarted,
  removeClaimed,
  renewLeases,
  releaseClaimed,
} from "./claimed-jobs.js";
import { isFailure, type JobDatabase, JobSql, literal } from "./job-sql.js";
import { insertJobs } from "./insert-jobs.js";
import { deadLetterUnhandled, listClaims, countUnhandled, recordHeartbeat } from "./live-workers.js";
import { endLostClaims, findLostJobs, removeDeadWorkers } from "./dead-workers.js";
import { readLastTick, recordTick } from "./job-ticks.js";
import {
  type ClaimedJob,
  type ClaimRequest,
  type DeadJob,
  type Dispatched,
  type Heartbeat,
  type JobClaim,
  type JobCounts,
  type JobFailure,
  type JobStore,
  type LiveWorker,
  type NewJob,
  type ReapedJob,
  MAX_COUNTED,
  type UnhandledJobs,
} from "../../job-store.js";

const MAX_RETRIES = 4;

export interface DatabaseJobsOptions {
  /**
   * Only on PostgreSQL: `NOTIFY` wakes the workers of other processes at once when jobs are committed. It needs one further connection for
   * each worker process. The workers poll as well. `false` unless set.
   */
  readonly notify?: boolean;
}

export class DatabaseJobs implements JobStore {
  readonly admin: JobAdmin;
  private readonly sql: JobSql;
  private readonly slots: ConcurrencySlots;
  private readonly notifies: boolean;
  private announcements: Announcements | undefined;

  constructor(
    readonly database: JobDatabase,
    options: DatabaseJobsOptions = {},
  ) {
    this.sql = new JobSql(database);
    this.slots = new ConcurrencySlots(this.sql, (work) => this.withRetries(work));
    this.admin = new DatabaseAdmin(this.sql, (work) => this.withRetries(work));
    this.notifies = options.notify === true && database.driver.listen !== undefined;
  }

  /** A transaction of another database may roll back after the row is committed here. */
  get joinsTransactions(): boolean {
    return this.database.ownsTransaction?.() ?? true;
  }

  /** The clock of a test replaces the clock of the database. */
  prepare({ clock }: Pick<SubsystemHost, "clock">): void {
    this.sql.clock = clock instanceof SystemClock ? undefined : clock;
    // The newest table is also missing if only the first of the migrations was applied.
    const migrations = "jobsMigrations of @stagecraft/framework/jobs";
    this.database.requireTable?.({ table: "framework_job_queues", migrations });
    if (this.notifies) this.announcements = new Announcements(this.sql, clock);
  }

  stop(): void {
    this.announcements?.stop();
  }

  onWake(listener: () => void): () => void {
    return this.announcements?.listen(listener) ?? (() => {});
  }

  announce(): void {
    this.announcements?.announce();
  }

  add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    return this.withRetries(() => insertJobs(this.sql, jobs));
  }

  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]> {
    return this.slots.claim(request, (limit) => this.withRetries(() => claimJobs(this.sql, { ...request, limit })));
  }

  /** Like `claim`, for a relay to another queue. @internal */
  claimForTransit(request: ClaimRequest): Promise<readonly JobInTransit[]> {
    return this.withRetries(() => claimForTransit(this.sql, request));
  }

  markStarted(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    return this.listRefused(claims, () => markStarted(this.sql, claims));
  }

  async complete(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    const refused = await this.listRefused(claims, () => removeClaimed(this.sql, claims));
    await this.slots.wakeBlocked(claims);
    return refused;
  }

  async fail(claim: JobClaim, { reason, retryInMs }: JobFailure): Promise<boolean> {
    const changed = await this.withRetries(() =>
      retryInMs === undefined
        ? deadLetterClaimed(this.sql, [claim], reason)
        : releaseClaimed(this.sql, [claim], { delayMs: retryInMs, countsAttempt: true }),
    );
    await this.slots.wakeBlocked([claim]);
    return changed.size > 0;
  }

  async release(claims: readonly JobClaim[]): Promise<void> {
    await this.withRetries(() => releaseClaimed(this.sql, claims, { delayMs: 0, countsAttempt: false }));
    await this.slots.wakeBlocked(claims);
  }

  async releaseUnknown(worker: string, known: readonly JobClaim[]): Promise<number> {
    const tokens = new Map(known.map(({ id, token }) => [id, token]));
    const unknownClaims = (await listClaims(this.sql, worker)).filter(({ id, token }) => tokens.get(id) !== token);
    await this.release(unknownClaims);
    return unknownClaims.length;
  }

  async waitUnhandled(claims: readonly JobClaim[], delayMs: number): Promise<void> {
    await this.withRetries(() =>
      releaseClaimed(this.sql, claims, { delayMs, countsAttempt: false, isUnhandled: true }),
    );
    await this.slots.wakeBlocked(claims);
  }

  unhandled(): Promise<readonly UnhandledJobs[]> {
    return countUnhandled(this.sql);
  }

  renew(claims: readonly JobClaim[], leaseMs: number): Promise<readonly JobClaim[]> {
    return this.listRefused(claims, () => renewLeases(this.sql, claims, leaseMs));
  }

  heartbeat(worker: LiveWorker): Promise<Heartbeat> {
    return recordHeartbeat(this.sql, worker);
  }

  async leave(worker: string): Promise<void> {
    await this.sql.run("DELETE FROM framework_job_workers WHERE id = ?", [worker]);
  }

  /** `dead-workers.ts` says what happens to each job. */
  async reap(deadAfterMs: number): Promise<readonly ReapedJob[]> {
    await removeDeadWorkers(this.sql, deadAfterMs);
    const lost = await findLostJobs(this.sql);
    const reaped = await endLostClaims(this.sql, lost, (work) => this.withRetries(work));
    await this.slots.wakeBlocked(lost);
    await this.slots.wakeForgotten();
    const unhandled = await this.withRetries(() => deadLetterUnhandled(this.sql));
    return [...reaped, ...unhandled];
  }

  /** Like `reap`, for a relay: a job that was not moved has had no attempt. @internal */
  async releaseLost(deadAfterMs: number): Promise<void> {
    await removeDeadWorkers(this.sql, deadAfterMs);
    await this.release(await findLostJobs(this.sql));
  }

  tick(schedule: string, due: number, job: NewJob | undefined): Promise<boolean> {
    return this.withRetries(() => recordTick(this.sql, { schedule, due, job }));
  }

  lastTick(schedule: string): Promise<number | undefined> {
    return readLastTick(this.sql, schedule);
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

  retry(id: string): Promise<boolean> {
    const retried = async (): Promise<boolean> => {
      // Locks the row, so that only one of several callers retries the job.
      const { affected } = await this.sql.run("UPDATE framework_dead_jobs SET token = token + 1 WHERE id = ?", [id]);
      if (affected === 0) return false;
      const columns = DEAD_COLUMNS.replace("attempt, token", "token");
      await this.sql.run(
        `INSERT INTO framework_jobs (${columns}, attempt, due) SELECT ${columns}, 0, ${this.sql.now} FROM framework_dead_jobs WHERE id = ?`,
        [id],
      );
      await this.sql.run("DELETE FROM framework_dead_jobs WHERE id = ?", [id]);
      return true;
    };
    return this.withRetries(() => this.database.transaction(retried));
  }

  async counts(): Promise<JobCounts> {
    const count = async (from: string): Promise<number> => {
      const counted = `SELECT COUNT(*) AS jobs FROM (SELECT 1 AS one FROM ${from} LIMIT ${MAX_COUNTED}) AS bounded`;
      return Number((await this.sql.run(counted)).rows[0]?.["jobs"]);
    };
    return {
      waiting: await count("framework_jobs WHERE worker IS NULL"),
      running: await count("framework_jobs WHERE worker IS NOT NULL"),
      dead: await count("framework_dead_jobs"),
    };
  }

  /** Returns the claims that the store refused. */
  private async listRefused(
    claims: readonly JobClaim[],
    change: () => Promise<ReadonlySet<string>>,
  ): Promise<readonly JobClaim[]> {
    const changed = await this.withRetries(change);
    return claims.filter(({ id }) => !changed.has(id));
  }

  /** Repeats the work after a conflict with another transaction. In a transaction of the caller only the caller can repeat it. */
  private async withRetries<T>(work: () => Promise<T>): Promise<T> {
    for (let left = currentCommitScope() === undefined ? MAX_RETRIES : 0; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (left <= 0 || !(isFailure(error, "deadlock") || isFailure(error, "serialization"))) throw error;
      }
    }
  }
}
