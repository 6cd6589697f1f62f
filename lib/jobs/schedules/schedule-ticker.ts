/**
 * Dispatches the ticks of the schedules of one process. Every process that works runs one; the store lets the first of them record a tick.
 * Due times are compared with the time of the store, so that clocks of several machines need not agree.
 */
import { AsyncResource } from "node:async_hooks";
import type { Operations } from "../../lifecycle/operations.js";
import type { Clock, Timer } from "../../runtime/clock.js";
import type { JobReports } from "../job-reports.js";
import { MAX_AHEAD_MS } from "../stores/database/job-ticks.js";
import type { JobStore, NewJob } from "../job-store.js";
import { runQuietly } from "../worker/quiet.js";
import type { Schedule, ScheduledTick } from "./schedule.js";

/** The longest wait before the time of the store is read again, because its clock may be changed. */
const MAX_WAIT_MS = 30_000;
/** The wait after a tick that the store has refused. */
const RETRY_MS = 5000;

export interface TickerTools {
  readonly store: Pick<JobStore, "now" | "tick" | "lastTick">;
  readonly clock: Clock;
  readonly operations: Operations;
  readonly reports: JobReports;
  readonly newJob: (schedule: Schedule, tick: ScheduledTick) => Promise<NewJob>;
  /** Called when a job was added. */
  readonly added: () => void;
}

export class ScheduleTicker {
  /** The due time of the last tick that this process knows, by schedule. */
  private readonly last = new Map<Schedule, number>();
  private timer: Timer | undefined;
  private ticking: Promise<void> = Promise.resolve();
  private isStopped = false;
  private readonly tick = AsyncResource.bind(() => {
    this.ticking = this.tickAll();
  });

  constructor(
    private readonly schedules: readonly Schedule[],
    private readonly tools: TickerTools,
  ) {}

  start(): void {
    if (this.schedules.length > 0) this.tick();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.ticking;
  }

  private async tickAll(): Promise<void> {
    let wait = MAX_WAIT_MS;
    try {
      const now = await runQuietly(() => this.tools.store.now());
      for (const schedule of this.schedules) wait = Math.min(wait, await this.tickOrRetry(schedule, now));
    } catch (error) {
      this.tools.reports.storeFailed("tick", error);
    }
    if (!this.isStopped) this.timer = this.tools.clock.setTimeout(this.tick, Math.max(wait, 1));
  }

  /** A tick that the store refuses, such as a tick for a full queue, is retried later, and delays no other schedule. */
  private async tickOrRetry(schedule: Schedule, now: number): Promise<number> {
    try {
      return await this.tickOne(schedule, now);
    } catch (error) {
      this.tools.reports.storeFailed("tick", error);
      return RETRY_MS;
    }
  }

  /** Returns the milliseconds until the next tick. */
  private async tickOne(schedule: Schedule, now: number): Promise<number> {
    const known = this.last.get(schedule);
    // A known tick far ahead means that the clock was ahead when the tick was recorded, and was set back since. Then the store has the tick
    // before it.
    const isPast = known !== undefined && known <= now + MAX_AHEAD_MS;
    const last = isPast ? known : await this.readLast(schedule, now);
    const due = schedule.latest(last, now);
    if (due !== undefined) await this.record(schedule, due, now);
    this.last.set(schedule, due ?? last);
    return schedule.next(now) - now;
  }

  /** A schedule that the store does not know starts now, and has missed no tick. */
  private async readLast(schedule: Schedule, now: number): Promise<number> {
    const { store } = this.tools;
    const last = await store.lastTick(schedule.name);
    if (last !== undefined) return last;
    await store.tick(schedule.name, now, undefined);
    return now;
  }

  private async record(schedule: Schedule, due: number, now: number): Promise<void> {
    const { store, operations, newJob, added } = this.tools;
    const tick = { due: new Date(due).toISOString() };
    const job = schedule.runs(due, now) ? await newJob(schedule, tick) : undefined;
    const fields = {
      schedule: schedule.name,
      due: tick.due,
      at: new Date(now).toISOString(),
      missed: job === undefined,
    };
    const isFirst = await operations.run("tick", () => store.tick(schedule.name, due, job), fields);
    if (isFirst && job !== undefined) added();
  }
}
