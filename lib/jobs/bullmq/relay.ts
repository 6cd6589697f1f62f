/**
 * Moves jobs from the table to Redis: rows that a transaction has committed, in their order, until no further row waits. The id of a row is
 * the id of the job, so a row that is moved twice becomes one job, while BullMQ still remembers the first move.
 */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { JobInTransit } from "../stores/database/claim-jobs.js";
import type { DatabaseJobs } from "../stores/database/database-jobs.js";
import type { LiveWorker, NewJob } from "../job-store.js";
import { DEAD_AFTER_MS, HEARTBEAT_MS } from "../worker/heartbeats.js";
import { runQuietly } from "../worker/quiet.js";
import type { Clock, Timer } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::jobs::relay");

const BATCH = 500;
const LEASE_MS = 30_000;
const POLL_MS = 500;

interface Batch {
  readonly rows: readonly JobInTransit[];
  /** The end of the lease. After it another relay may have claimed the rows. */
  readonly ends: number;
}

export class Relay {
  private readonly id = randomUUID();
  /** A relay has no handlers. */
  private readonly live: LiveWorker = { id: this.id, names: [], queues: undefined };
  private timer: Timer | undefined;
  private moving: Promise<void> | undefined;
  private isWoken = false;
  private isStopped = false;
  private lastHeartbeat = -Infinity;
  /** Rows that are in Redis, and whose deletion from the table is not confirmed. */
  private readonly moved: JobInTransit[] = [];
  /** Until this time the table may have claims whose response this relay has lost. */
  private unknownUntil = -Infinity;
  /** The rows that are claimed and not moved yet: the next batch to move, and the one after it. */
  private batches: Batch[] = [];

  constructor(
    private readonly rows: DatabaseJobs,
    private readonly move: (jobs: readonly NewJob[]) => Promise<void>,
    private readonly clock: Clock,
  ) {}

  async start(): Promise<void> {
    await this.rows.heartbeat(this.live);
    this.wake();
  }

  /** Called when a row was committed. The relay must not inherit the context of the caller. */
  readonly wake = AsyncResource.bind((): void => {
    this.isWoken = true;
    this.moving ??= this.moveAll();
  });

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.moving;
    await this.completeMoved().catch(() => {});
    await this.rows.release(this.batches.flatMap(({ rows }) => rows)).catch(() => {});
    await this.rows.leave(this.id).catch(() => {});
  }

  private async moveAll(): Promise<void> {
    this.timer?.cancel();
    try {
      while (this.hasWork() && !this.isStopped) {
        await this.sendHeartbeat();
        await this.step();
      }
    } catch (error) {
      log.warn("jobs not moved", { error });
    }
    this.moving = undefined;
    if (!this.isStopped) this.timer = this.clock.setTimeout(this.wake, POLL_MS * (0.5 + Math.random()));
  }

  private hasWork(): boolean {
    return this.isWoken || this.batches.length > 0 || this.moved.length > 0;
  }

  /** Claims a batch, moves the one before it, and completes the one before that, at the same time: each waits for the database or Redis. */
  private async step(): Promise<void> {
    const now = this.clock.monotonic();
    this.batches = this.batches.filter(({ ends }) => now < ends);
    const steps = [this.completeMoved(), this.moveFirst()];
    // While completions or moves fail, no further rows are claimed.
    if (this.isWoken && this.batches.length < 2 && this.moved.length <= BATCH) steps.push(this.claim(now));
    for (const result of await Promise.allSettled(steps)) if (result.status === "rejected") throw result.reason;
  }

  private async completeMoved(): Promise<void> {
    const rows = [...this.moved];
    if (rows.length > 0) await runQuietly(() => this.rows.complete(rows));
    this.moved.splice(0, rows.length);
  }

  private async moveFirst(): Promise<void> {
    const [batch] = this.batches;
    if (batch === undefined) return;
    await this.move(batch.rows);
    this.moved.push(...batch.rows);
    this.batches.shift();
  }

  private async claim(now: number): Promise<void> {
    this.isWoken = false;
    const known = [...this.moved, ...this.batches.flatMap(({ rows }) => rows)];
    if (now < this.unknownUntil) await runQuietly(() => this.rows.releaseUnknown(this.id, known));
    const request = { worker: this.id, queues: undefined, limit: BATCH, leaseMs: LEASE_MS };
    try {
      const rows = await runQuietly(() => this.rows.claimForTransit(request));
      if (rows.length > 0) this.batches.push({ rows, ends: now + LEASE_MS });
      // More rows may wait.
      if (rows.length === BATCH) this.isWoken = true;
    } catch (error) {
      // The response may be lost, and the database may claim the rows now or in a moment.
      this.unknownUntil = this.clock.monotonic() + LEASE_MS;
      throw error;
    }
  }

  private async sendHeartbeat(): Promise<void> {
    if (this.clock.monotonic() - this.lastHeartbeat < HEARTBEAT_MS) return;
    this.lastHeartbeat = this.clock.monotonic();
    await runQuietly(() => this.rows.heartbeat(this.live));
    await runQuietly(() => this.rows.releaseLost(DEAD_AFTER_MS));
  }
}
