/**
 * `Heartbeats` sends the heartbeats of one worker on a separate timer, so that no other work of the worker delays them. The constants are
 * the times after which a worker is dead; `../stores/database/dead-workers.ts` says what happens to its jobs. `Heartbeats` also decides
 * whether the worker may reap the jobs of others: after an outage all heartbeats are late, and the first worker to come back must not reap
 * the jobs of the other workers.
 */
import { type Clock, type Timer, within } from "../../runtime/clock.js";
import type { Heartbeat, JobStore, LiveWorker } from "../job-store.js";
import { runQuietly } from "./quiet.js";

/** The longest time between two heartbeats of one worker that are not late. */
export const HEARTBEAT_MS = 10_000;
/** A worker without a heartbeat for this time is dead: the other workers reap its jobs. */
export const DEAD_AFTER_MS = 30_000;
/** A heartbeat that comes later than this after the previous one is late. */
const LATE_MS = 20_000;
/**
 * A worker that is new, or whose heartbeat was late, reaps no jobs for this time. It is as long as `DEAD_AFTER_MS`, so that each living
 * worker can send a heartbeat before.
 */
const REAP_DELAY_MS = 30_000;
const GRACE_MS = 1000;

export interface HeartbeatTools {
  readonly store: Pick<JobStore, "heartbeat">;
  readonly clock: Clock;
  readonly live: () => LiveWorker;
  /** Called with the response to each heartbeat. */
  readonly received: (heartbeat: Heartbeat) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

export class Heartbeats {
  private timer: Timer | undefined;
  private sending: Promise<void> = Promise.resolve();
  private isStopped = false;
  /** The id of the worker in the last heartbeat that the store has acknowledged. */
  private acknowledgedId: string | undefined;
  private last = { monotonic: -Infinity, now: -Infinity };
  private mayReapFrom = Infinity;

  constructor(private readonly tools: HeartbeatTools) {}

  /** Resolves after the first heartbeat. */
  start(): Promise<void> {
    this.sending = this.send();
    return this.sending;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await within(this.tools.clock, GRACE_MS, this.sending);
  }

  /** False while the heartbeats of this worker fail, and for `REAP_DELAY_MS` after they were late. */
  get mayReap(): boolean {
    return this.getSilenceMs() <= LATE_MS && this.tools.clock.monotonic() >= this.mayReapFrom;
  }

  private async send(): Promise<void> {
    const { store, live, received, failed, clock } = this.tools;
    try {
      const worker = live();
      const heartbeat = await runQuietly(() => store.heartbeat(worker));
      this.recordTime();
      const isFirst = this.acknowledgedId !== worker.id;
      this.acknowledgedId = worker.id;
      // A store reports a new worker as unknown, although no claim of it is lost.
      await received(isFirst ? { ...heartbeat, isKnown: true } : heartbeat);
    } catch (error) {
      failed(error);
    }
    if (this.isStopped) return;
    const jitter = 0.8 + Math.random() * 0.2;
    this.timer = clock.setTimeout(() => void this.start(), HEARTBEAT_MS * jitter);
  }

  private recordTime(): void {
    const { clock } = this.tools;
    if (this.getSilenceMs() > LATE_MS) this.mayReapFrom = clock.monotonic() + REAP_DELAY_MS;
    this.last = { monotonic: clock.monotonic(), now: clock.now() };
  }

  /** The milliseconds since the last heartbeat, by both clocks, because the monotonic clock stands still while the machine is suspended. */
  private getSilenceMs(): number {
    const { clock } = this.tools;
    return Math.max(clock.monotonic() - this.last.monotonic, clock.now() - this.last.now);
  }
}
