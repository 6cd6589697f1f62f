/**
 * The heartbeats of one worker, on a timer of their own, so that no other work of the worker delays them. They also decide whether the worker
 * may take others for dead: after an outage all have been silent, and the first to come back must not take the jobs of the others.
 */
import { type Clock, type Timer, within } from "../../runtime/clock.js";
import type { Heartbeat, JobStore, LiveWorker } from "../job-store.js";
import { quietly } from "./quiet.js";

export const BEAT_MS = 10_000;
/** A heartbeat that comes later than this after the one before is late. */
const LATE_MS = 20_000;
/** A worker that was late, or that is new, judges no other for this time. */
const JUDGES_AFTER_MS = 30_000;
const GRACE_MS = 1000;

export interface HeartbeatTools {
  readonly store: Pick<JobStore, "heartbeat">;
  readonly clock: Clock;
  readonly live: () => LiveWorker;
  /** Called with each answer to a heartbeat. */
  readonly heard: (heartbeat: Heartbeat) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

export class Heartbeats {
  private timer: Timer | undefined;
  private beating: Promise<void> = Promise.resolve();
  private hasEnded = false;
  /** The id of the last heartbeat that the store has answered. */
  private recorded: string | undefined;
  private last = { monotonic: -Infinity, now: -Infinity };
  private judgesFrom = Infinity;

  constructor(private readonly tools: HeartbeatTools) {}

  /** Resolves after the first one. */
  start(): Promise<void> {
    this.beating = this.beat();
    return this.beating;
  }

  async stop(): Promise<void> {
    this.hasEnded = true;
    this.timer?.cancel();
    await within(this.tools.clock, GRACE_MS, this.beating);
  }

  /** False while the own heartbeats fail, and for half a minute after they were late. */
  get mayJudge(): boolean {
    return this.silence() <= LATE_MS && this.tools.clock.monotonic() >= this.judgesFrom;
  }

  private async beat(): Promise<void> {
    const { store, live, heard, failed, clock } = this.tools;
    try {
      const worker = live();
      const heartbeat = await quietly(() => store.heartbeat(worker));
      this.note();
      const isFirst = this.recorded !== worker.id;
      this.recorded = worker.id;
      // A store does not know a new worker.
      await heard(isFirst ? { ...heartbeat, isKnown: true } : heartbeat);
    } catch (error) {
      failed(error);
    }
    if (this.hasEnded) return;
    const jitter = 0.8 + Math.random() * 0.2;
    this.timer = clock.setTimeout(() => void this.start(), BEAT_MS * jitter);
  }

  private note(): void {
    const { clock } = this.tools;
    if (this.silence() > LATE_MS) this.judgesFrom = clock.monotonic() + JUDGES_AFTER_MS;
    this.last = { monotonic: clock.monotonic(), now: clock.now() };
  }

  /** The milliseconds since the last heartbeat. The monotonic clock of a machine stands still while the machine is suspended. */
  private silence(): number {
    const { clock } = this.tools;
    return Math.max(clock.monotonic() - this.last.monotonic, clock.now() - this.last.now);
  }
}
