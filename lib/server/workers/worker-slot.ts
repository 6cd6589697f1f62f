/**
 * The place of one of the n workers: the worker that serves there, and its replacement while that one starts. The slot forks again when its
 * worker ends without being asked.
 */
import type { Clock, Timer } from "../../runtime/clock.js";
import type { Restarts } from "./restarts.js";
import type { DrainTimes, WorkerProcess } from "./worker-process.js";

/** What a slot needs of its supervisor. */
export interface SlotOptions {
  readonly clock: Clock;
  readonly restarts: Restarts;
  readonly rollTimes: DrainTimes;
  /** Undefined if the operating system gives no process. */
  fork(): WorkerProcess | undefined;
  /** Too many workers have ended: see `Restarts`. */
  giveUp(): void;
  /** The worker gets no more connections, and ends. */
  retire(worker: WorkerProcess, times: DrainTimes): void;
}

class Replacement {
  readonly done: Promise<boolean>;
  resolve: (isReady: boolean) => void = () => undefined;

  constructor(readonly worker: WorkerProcess) {
    this.done = new Promise((resolve) => (this.resolve = resolve));
  }
}

export class WorkerSlot {
  current: WorkerProcess | undefined;
  private next: Replacement | undefined;
  private restart: Timer | undefined;
  private isStopped = false;

  constructor(private readonly options: SlotOptions) {}

  /** Forks the worker of the slot. */
  start(): void {
    this.restart = undefined;
    this.current = this.options.fork();
    if (this.current === undefined) this.startLater(undefined);
  }

  has(worker: WorkerProcess): boolean {
    return this.current === worker || this.next?.worker === worker;
  }

  /** Forks a replacement, and retires the worker when the replacement is ready. False if it did not become ready. */
  replace(): Promise<boolean> {
    if (this.next !== undefined) return this.next.done;
    const worker = this.isStopped ? undefined : this.options.fork();
    if (worker === undefined) return Promise.resolve(false);
    this.next = new Replacement(worker);
    return this.next.done;
  }

  /** The worker is ready. */
  reachReady(worker: WorkerProcess): void {
    const { next } = this;
    if (next?.worker !== worker) return;
    this.next = undefined;
    this.restart?.cancel();
    this.restart = undefined;
    const old = this.current;
    this.current = worker;
    if (old?.isStuck === true) old.kill();
    else if (old !== undefined) this.options.retire(old, this.options.rollTimes);
    next.resolve(true);
  }

  /** The worker has ended or leaves without being asked. Forks again, unless a replacement starts already. */
  lose(worker: WorkerProcess): void {
    const { next } = this;
    if (next?.worker === worker) {
      this.next = undefined;
      next.resolve(false);
      if (this.current === undefined && !this.isStopped && this.restart === undefined) this.startLater(worker.readyAt);
    } else if (this.current === worker) {
      this.current = undefined;
      if (!this.isStopped && next === undefined) this.startLater(worker.readyAt);
    }
  }

  /** Forks no more. */
  stop(): void {
    this.isStopped = true;
    this.restart?.cancel();
    this.next?.resolve(false);
  }

  private startLater(readyAt: number | undefined): void {
    const delayMs = this.options.restarts.record(readyAt);
    if (this.options.restarts.isExhausted) this.options.giveUp();
    if (this.isStopped) return;
    this.restart = this.options.clock.setTimeout(() => this.start(), delayMs);
  }
}
