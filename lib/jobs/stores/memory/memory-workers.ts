/** The workers of `MemoryJobs`, with the time of their last heartbeat. */
import type { LiveWorker } from "../../job-store.js";
import { MAX_AHEAD_MS } from "../database/job-ticks.js";

export class MemoryWorkers {
  private readonly living = new Map<string, LiveWorker & { readonly at: number }>();
  /** Workers that were declared dead since their last heartbeat. */
  private readonly silent = new Set<string>();

  /** Returns false if the worker was declared dead since its last heartbeat. */
  heartbeat(worker: LiveWorker, at: number): boolean {
    this.living.set(worker.id, { ...worker, at });
    return !this.silent.delete(worker.id);
  }

  leave(id: string): void {
    this.living.delete(id);
  }

  isLiving(id: string | undefined): boolean {
    return id !== undefined && this.living.has(id);
  }

  hasHandler(name: string, queue: string): boolean {
    return [...this.living.values()].some(
      ({ names, queues }) => names.includes(name) && (queues?.includes(queue) ?? true),
    );
  }

  forgetSilent(now: number, deadAfterMs: number): void {
    for (const [id, worker] of this.living) {
      // The clock was set back since the last heartbeat.
      if (worker.at > now + MAX_AHEAD_MS) this.living.set(id, { ...worker, at: now });
      else if (worker.at < now - deadAfterMs) {
        this.living.delete(id);
        this.silent.add(id);
      }
    }
  }
}
