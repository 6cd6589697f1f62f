/**
 * Counts the jobs that this process had no handler for and has delayed, for the gauge. BullMQ cannot count waiting jobs by name, so each
 * process counts the jobs that reached it within a minute. In that time each of these jobs reaches a process again.
 */
import type { ClaimedJob, UnhandledJobs } from "../job-store.js";
import type { Clock, Timer } from "../../runtime/clock.js";

const MAX_COUNTED = 10_000;

interface SeenJob {
  readonly name: string;
  readonly queue: string;
  readonly since: number;
  /** The time at which the job last reached this process. */
  readonly at: number;
}

export class SeenUnhandledJobs {
  private readonly seen = new Map<string, SeenJob>();
  private timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    /** The time for which a job counts after it reached this process. */
    private readonly countedMs: number,
    private readonly report: (found: readonly UnhandledJobs[]) => void,
  ) {}

  add({ id, name, queue }: ClaimedJob, since: number): void {
    if (this.seen.size < MAX_COUNTED) this.seen.set(id, { name, queue, since, at: this.clock.monotonic() });
    this.timer ??= this.clock.setTimeout(() => this.refresh(), 0, { background: true });
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** Called soon after the first job, then regularly while any job counts. */
  private refresh(): void {
    const oldest = this.clock.monotonic() - this.countedMs;
    for (const [id, { at }] of this.seen) if (at < oldest) this.seen.delete(id);
    const found = new Map<string, UnhandledJobs>();
    for (const { name, queue, since } of this.seen.values()) {
      const key = `${name} ${queue}`;
      const { jobs = 0, since: first = since } = found.get(key) ?? {};
      found.set(key, { name, queue, jobs: jobs + 1, since: Math.min(first, since) });
    }
    this.report([...found.values()]);
    const next = (): void => this.refresh();
    this.timer = found.size === 0 ? undefined : this.clock.setTimeout(next, this.countedMs / 6, { background: true });
  }
}
