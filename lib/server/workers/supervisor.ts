/**
 * The workers of a parent: forks n, passes connections to those that are ready, forks again what ends without being asked, replaces them one
 * by one, and stops them all within one deadline. It knows nothing of applications: a worker is a process that tells its states by the link.
 *
 * While no worker is ready, the workers that start get the connections, so that the probes are served.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { Clock } from "../../runtime/clock.js";
import { OVERDUE, within } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { Restarts, type RestartLimit } from "./restarts.js";
import type { SharedPort } from "./shared-port.js";
import {
  WorkerProcess,
  type DrainTimes,
  type LinkedWorker,
  type WorkerEnd,
  type WorkerEvents,
} from "./worker-process.js";
import { WorkerSlot } from "./worker-slot.js";

const log = tracing.target("framework::workers");

/** From the deadline of a drain until its connections are destroyed: see `lib/server/drain.ts`. */
const ABORT_MS = 2000;
/** A worker that has not answered a ping for this time at the deadline will not end by itself. */
const SILENT_MS = 3000;
/** A service manager sends SIGTERM to all processes at once: the parent then has its signal within this time. */
const RETIRE_DELAY_MS = 200;

/** Work in the parent for each worker. All calls of one worker come in this order. */
export interface WorkerObserver {
  /** The process was forked. Hear its topics here. */
  forked?(worker: LinkedWorker): void;
  /** It serves requests. */
  ready?(worker: LinkedWorker): void;
  /** It gets no more connections: it was asked to drain, drains by itself, or does not respond. A killed worker skips this call. */
  ending?(worker: LinkedWorker): void;
  /** The process has ended, and all that it told was heard. */
  ended?(worker: LinkedWorker, end: WorkerEnd): void;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly count: number;
  readonly port: SharedPort;
  readonly observers: readonly WorkerObserver[];
  readonly restarts: RestartLimit;
  readonly unresponsiveAfterMs: number;
  readonly startTimeoutMs: number;
  /** The times of the drain of a worker that is replaced. */
  readonly rollTimes: DrainTimes;
  /** From the deadline of a drain until a worker that has not ended is killed: the time of the hooks that run at the stop. */
  readonly stopLimitMs: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** The reason why the parent gives up. */
export class WorkersError extends FrameworkError {
  constructor(code: "E_WORKERS_START" | "E_WORKERS_RESTARTS", message: string) {
    super(message, { code });
  }
}

export class Supervisor {
  /** Rejects with the reason if the parent gives up. */
  readonly failed: Promise<never>;
  /** Resolves when the first worker is ready. */
  readonly ready: Promise<void>;
  /** Workers that were killed, or that ended with another code than 0, although the parent had asked them to end. */
  forced = 0;
  private readonly slots: readonly WorkerSlot[];
  private readonly workers = new Set<WorkerProcess>();
  private readonly restarts: Restarts;
  private giveUp: (error: WorkersError) => void = () => undefined;
  private announceReady: () => void = () => undefined;
  private wasReady = false;
  private isStopping = false;
  private rolling: Promise<void> | undefined;
  private rollsAgain = false;

  constructor(private readonly options: SupervisorOptions) {
    this.failed = new Promise((_resolve, reject) => (this.giveUp = reject));
    this.failed.catch(() => undefined);
    this.ready = new Promise((resolve) => (this.announceReady = resolve));
    this.restarts = new Restarts(options.clock, options.restarts);
    this.slots = Array.from({ length: options.count }, () => this.createSlot());
  }

  start(): void {
    for (const slot of this.slots) slot.start();
  }

  /** All workers that have not ended. */
  get all(): readonly LinkedWorker[] {
    return [...this.workers];
  }

  /**
   * Replaces the workers one by one. Each one ends after its replacement is ready. A call during a roll has another roll follow it. Never
   * rejects.
   */
  roll(): Promise<void> {
    if (this.rolling !== undefined) {
      this.rollsAgain = true;
      return this.rolling;
    }
    this.rolling = this.rollAll().finally(() => (this.rolling = undefined));
    return this.rolling;
  }

  /** Asks all workers to drain at once, and resolves when all have ended. Kills those that do not end. */
  async stop(times: DrainTimes): Promise<void> {
    this.isStopping = true;
    for (const slot of this.slots) slot.stop();
    await Promise.all([...this.workers].map((worker) => this.drain(worker, times)));
    await this.options.port.close();
    this.options.port.destroyWaiting();
  }

  /** Kills all workers at once. */
  kill(): void {
    for (const worker of this.workers) worker.kill();
  }

  private async rollAll(): Promise<void> {
    do {
      this.rollsAgain = false;
      log.info("replacing workers", { workers: this.slots.length });
      for (const slot of this.slots) {
        const old = slot.current;
        // oxlint-disable-next-line no-await-in-loop -- one by one
        if (!(await slot.replace())) {
          if (!this.isStopping) log.error("workers not replaced: a replacement did not become ready");
          return;
        }
        // oxlint-disable-next-line no-await-in-loop -- one by one
        await old?.whenEnded;
      }
      log.info("workers replaced", { workers: this.slots.length });
    } while (this.rollsAgain && !this.isStopping);
  }

  private createSlot(): WorkerSlot {
    const { clock, rollTimes } = this.options;
    return new WorkerSlot({
      clock,
      rollTimes,
      restarts: this.restarts,
      fork: () => this.fork(),
      retire: (worker, times) => this.retire(worker, times),
      giveUp: () => {
        const { limit, withinMs } = this.options.restarts;
        this.giveUp(
          new WorkersError(
            "E_WORKERS_RESTARTS",
            `more than ${limit} workers ended within ${withinMs} ms; see their events`,
          ),
        );
      },
    });
  }

  private fork(): WorkerProcess | undefined {
    try {
      const worker = new WorkerProcess(this.events, this.options);
      this.workers.add(worker);
      for (const observer of this.options.observers) observer.forked?.(worker);
      return worker;
    } catch (error) {
      log.error("worker not forked", { error });
      return undefined;
    }
  }

  private retire(worker: WorkerProcess, times: DrainTimes): void {
    this.options.port.remove(worker);
    void this.drain(worker, times);
  }

  /** Resolves when the worker has ended. */
  private async drain(worker: WorkerProcess, times: DrainTimes): Promise<void> {
    const { clock, stopLimitMs } = this.options;
    // Before it has served, there is nothing to drain.
    if (worker.state === "starting") worker.kill();
    else this.markEnding(worker);
    worker.drain(times);
    if ((await within(clock, times.drainDeadlineMs + ABORT_MS, worker.whenEnded)) !== OVERDUE) return;
    if (worker.silentMs >= SILENT_MS) worker.kill();
    if ((await within(clock, stopLimitMs, worker.whenEnded)) === OVERDUE) worker.kill();
    await worker.whenEnded;
  }

  private markEnding(worker: WorkerProcess): void {
    if (worker.isEnding) return;
    worker.isEnding = true;
    for (const observer of this.options.observers) observer.ending?.(worker);
  }

  /** Passes connections to the workers that are ready; if there is none, to those that start. */
  private chooseTakers(): void {
    if (this.isStopping) return;
    const usable = [...this.workers].filter(({ isEnding }) => !isEnding);
    const ready = usable.filter(({ state }) => state === "ready");
    const chosen = new Set(ready.length > 0 ? ready : usable.filter(({ state }) => state === "linked"));
    for (const worker of this.workers) {
      if (chosen.has(worker)) this.options.port.add(worker);
      else this.options.port.remove(worker);
    }
  }

  private findSlot(worker: WorkerProcess): WorkerSlot | undefined {
    return this.slots.find((slot) => slot.has(worker));
  }

  private readonly events: WorkerEvents = {
    linked: () => this.chooseTakers(),
    ready: (worker) => {
      this.wasReady = true;
      this.chooseTakers();
      log.info("worker ready", { worker: worker.id, pid: worker.pid });
      for (const observer of this.options.observers) observer.ready?.(worker);
      this.findSlot(worker)?.reachReady(worker);
      this.announceReady();
    },
    retiring: (worker) => {
      // The service manager may have sent its signal to the parent as well, which then stops all.
      this.options.clock.setTimeout(() => void this.replaceOrRetire(worker), RETIRE_DELAY_MS);
    },
    closing: (worker) => void this.releaseConnections(worker),
    confirmed: (worker, open) => this.options.port.confirm(worker, open),
    counted: (worker, open) => this.options.port.count(worker, open),
    unresponsive: (worker) => void this.replaceStuck(worker),
    ended: (worker, end) => this.handleEnd(worker, end),
  };

  private async replaceOrRetire(worker: WorkerProcess): Promise<void> {
    if (this.isStopping || worker.state === "ended" || worker.isEnding) return;
    const slot = this.findSlot(worker);
    if (slot?.current === worker && (await slot.replace())) return;
    this.retire(worker, this.options.rollTimes);
    slot?.lose(worker);
  }

  private async releaseConnections(worker: WorkerProcess): Promise<void> {
    if (this.isStopping) await this.options.port.close();
    this.options.port.remove(worker);
    worker.release();
    if (worker.isEnding) return;
    // It drains after an uncaught error.
    this.markEnding(worker);
    this.findSlot(worker)?.lose(worker);
  }

  private async replaceStuck(worker: WorkerProcess): Promise<void> {
    if (this.isStopping || worker.state !== "ready") return;
    log.error("worker does not respond", {
      worker: worker.id,
      pid: worker.pid,
      silent_ms: worker.silentMs,
    });
    this.markEnding(worker);
    this.chooseTakers();
    if (!(await this.findSlot(worker)?.replace())) worker.kill();
  }

  private handleEnd(worker: WorkerProcess, end: WorkerEnd): void {
    this.workers.delete(worker);
    this.options.port.release(worker);
    this.reportEnd(worker, end);
    for (const observer of this.options.observers) observer.ended?.(worker, end);
    this.chooseTakers();
    if (!this.wasReady && !this.isStopping) {
      const message = `worker ${worker.id} ended with ${describeEnd(end)} before it was ready; the lines above say why`;
      this.giveUp(new WorkersError("E_WORKERS_START", message));
    }
    this.findSlot(worker)?.lose(worker);
  }

  private reportEnd({ id, pid, wasAsked, wasLinked }: WorkerProcess, { code, signal }: WorkerEnd): void {
    // A worker that has not served yet is killed at the stop: nothing is lost.
    const isClean = wasAsked && (code === 0 || !wasLinked);
    if (!isClean && this.isStopping) this.forced += 1;
    const fields = { worker: id, pid, ...(code !== null && { code }), ...(signal !== null && { signal }) };
    if (isClean) log.info("worker ended", fields);
    else log.error("worker ended", { ...fields, asked: wasAsked });
  }
}

function describeEnd({ code, signal }: WorkerEnd): string {
  if (signal !== null) return `signal ${signal}`;
  return code === null ? "a failed start of its process" : `exit code ${code}`;
}
