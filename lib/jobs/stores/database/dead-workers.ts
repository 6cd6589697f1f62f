/**
 * What happens to the jobs of a worker that died, and to jobs whose lease ended.
 *
 * Each worker sends a heartbeat every 8 to 10 s. Each worker also looks for dead workers every 8 to 10 s, in `runUpkeep` of `StoreWorker`,
 * which calls `reap` of the store. A worker without a heartbeat for 30 s is dead, so its jobs are found 30 to 40 s after its last
 * heartbeat. A worker that is new, or whose heartbeats were late, looks only after 30 s of regular heartbeats. `worker/heartbeats.ts` has
 * these times and that rule. A lease ends after 5 minutes without a renewal; `worker/store-worker.ts` has that time.
 *
 * - A job with attempts left is due again at once, without the wait of a retry. The lost attempt counts.
 * - A last attempt whose handler had started is a dead letter with the reason `WORKER_DIED`. `markStarted` records the start.
 * - A last attempt whose handler had not started is due again at once. It does not count.
 * - A job that would be due again is removed instead if its cancellation was requested, or if another job with its key waits already.
 *
 * The claim ends with each of these steps, so the store refuses every later report of the old run. A worker that was only suspended learns
 * at its next heartbeat that it was declared dead. It aborts the signals of its runs with `E_JOB_LEASE_LOST`, and goes on under a new id.
 *
 * `MemoryJobs.reap` follows the same rules. With `BullJobs`, BullMQ finds the jobs by locks that are no longer renewed, and `BullWorker`
 * decides on attempts.
 */
import { deadLetterClaimed, releaseClaimed } from "./claimed-jobs.js";
import { type JobSql, literal } from "./job-sql.js";
import { MAX_AHEAD_MS } from "./job-ticks.js";
import { MAX_REAPED, toClaim, toNamedJob } from "./live-workers.js";
import { type JobClaim, type ReapedJob, WORKER_DIED } from "../../job-store.js";

/** A job whose claim has no living worker or no valid lease. */
export interface LostJob extends ReapedJob, JobClaim {
  readonly countsAttempt: boolean;
}

export async function removeDeadWorkers(sql: JobSql, deadAfterMs: number): Promise<void> {
  const { now } = sql;
  // A clock that was set back leaves heartbeats in the future. They would keep a dead worker alive until the clock reaches them.
  await sql.run(`UPDATE framework_job_workers SET beat_at = ${now} WHERE beat_at > ${now} + ${MAX_AHEAD_MS}`);
  await sql.run(`DELETE FROM framework_job_workers WHERE beat_at < ${now} - ${literal(deadAfterMs)}`);
}

export async function findLostJobs(sql: JobSql): Promise<readonly LostJob[]> {
  const { rows } = await sql.run(
    `SELECT id, token, name, queue, attempt, max_attempts, started_token, concurrency_key, concurrency_limit FROM framework_jobs WHERE worker IS NOT NULL AND (leased_until <= ${sql.now} OR worker NOT IN (SELECT id FROM framework_job_workers)) LIMIT ${MAX_REAPED}`,
  );
  return rows.map((row) => {
    const isLast = Number(row["attempt"]) >= Number(row["max_attempts"]);
    const isDeadLetter = isLast && Number(row["started_token"] ?? 0) === Number(row["token"]);
    return {
      ...toClaim(row),
      ...toNamedJob(row),
      isDead: isDeadLetter,
      countsAttempt: isDeadLetter || !isLast,
      reason: WORKER_DIED,
    };
  });
}

/**
 * Ends the claims of the lost jobs. Returns the jobs whose claims this call ended.
 *
 * @param withRetries runs the work again after a conflict with another transaction
 */
export async function endLostClaims(
  sql: JobSql,
  lost: readonly LostJob[],
  withRetries: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<readonly ReapedJob[]> {
  const dead = lost.filter(({ isDead }) => isDead);
  const changed = new Set(await withRetries(() => deadLetterClaimed(sql, dead, WORKER_DIED)));
  for (const countsAttempt of [true, false]) {
    const others = lost.filter((job) => !job.isDead && job.countsAttempt === countsAttempt);
    const released = await withRetries(() => releaseClaimed(sql, others, { delayMs: 0, countsAttempt }));
    for (const id of released) changed.add(id);
  }
  return lost.filter(({ id }) => changed.has(id)).map(toReaped);
}

function toReaped({ id, name, queue, attempt, isDead, reason }: ReapedJob): ReapedJob {
  return { id, name, queue, attempt, isDead, reason };
}
