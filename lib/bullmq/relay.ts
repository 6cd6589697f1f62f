/**
 * Moves jobs from the table to Redis: rows that a transaction has committed, in their order. The id of a row is the id of the job, so a row
 * that is moved twice becomes one job, while BullMQ still remembers the first move.
 */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { JobInTransit } from "../jobs/claim-jobs.js";
import type { DatabaseJobs } from "../jobs/database-jobs.js";
import type { LiveWorker, NewJob } from "../jobs/job-store.js";
import { quietly } from "../jobs/quiet.js";
import type { Clock, Timer } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::jobs::relay");

const BATCH = 500;
const LEASE_MS = 30_000;
const POLL_MS = 500;
const BEAT_MS = 10_000;
const DEAD_AFTER_MS = 30_000;

export class Relay {
  private readonly id = randomUUID();
  /** A relay has no handlers. */
  private readonly live: LiveWorker = { id: this.id, names: [], queues: undefined };
  private timer: Timer | undefined;
  private moving: Promise<void> | undefined;
  private isWoken = false;
  private hasEnded = false;
  private lastBeat = -Infinity;
  /** The rows that are claimed and not moved yet: Redis may have failed. */
  private batch: { readonly rows: readonly JobInTransit[]; readonly ends: number } | undefined;

  constructor(
    private readonly rows: DatabaseJobs,
    private readonly move: (jobs: readonly NewJob[]) => Promise<void>,
    private readonly clock: Clock,
  ) {}

  async begin(): Promise<void> {
    await this.rows.heartbeat(this.live);
    this.wake();
  }

  /** A row may have been committed. Called in the transaction of a dispatch, which the relay must not inherit. */
  readonly wake = AsyncResource.bind((): void => {
    this.isWoken = true;
    this.moving ??= this.moveAll();
  });

  async end(): Promise<void> {
    this.hasEnded = true;
    this.timer?.cancel();
    await this.moving;
    await this.rows.release(this.batch?.rows ?? []).catch(() => {});
    await this.rows.leave(this.id).catch(() => {});
  }

  private async moveAll(): Promise<void> {
    this.timer?.cancel();
    try {
      await this.beat();
      while (this.isWoken && !this.hasEnded) {
        this.isWoken = false;
        // A full batch means that more rows may wait.
        if ((await this.moveSome()) === BATCH) this.isWoken = true;
      }
    } catch (error) {
      log.warn("jobs not moved", { error });
    }
    this.moving = undefined;
    if (!this.hasEnded) this.timer = this.clock.setTimeout(this.wake, POLL_MS * (0.5 + Math.random()));
  }

  private async moveSome(): Promise<number> {
    const now = this.clock.monotonic();
    // After its lease another relay may have the batch.
    if (this.batch === undefined || this.batch.ends <= now)
      this.batch = { rows: await this.claim(), ends: now + LEASE_MS };
    const { rows } = this.batch;
    if (rows.length > 0) await this.move(rows);
    this.batch = undefined;
    if (rows.length > 0) await quietly(() => this.rows.complete(rows));
    return rows.length;
  }

  private claim(): Promise<readonly JobInTransit[]> {
    const request = { worker: this.id, queues: undefined, limit: BATCH, leaseMs: LEASE_MS };
    return quietly(() => this.rows.claimForTransit(request));
  }

  private async beat(): Promise<void> {
    if (this.clock.monotonic() - this.lastBeat < BEAT_MS) return;
    this.lastBeat = this.clock.monotonic();
    await quietly(() => this.rows.heartbeat(this.live));
    await quietly(() => this.rows.returnLost(DEAD_AFTER_MS));
  }
}
