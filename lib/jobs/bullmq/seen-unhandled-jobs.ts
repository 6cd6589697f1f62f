/**
 * The jobs that this process had no handler for and has put back, for the gauge. BullMQ cannot count waiting jobs by name, so each process
 * counts the jobs that came to it within a minute: in that time each of them comes to some process again.
 */
import type { ClaimedJob, UnhandledJobs } from "../job-store.js";
import type { Clock, Timer } from "../../runtime/clock.js";

const MAX_COUNTED = 10_000;

interface SeenJob {
  readonly name: string;
  readonly queue: string;
  readonly since: number;
  /** When it came to this process last. */
  readonly at: number;
}

export class SeenUnhandledJobs {
  private readonly seen = new Map<string, SeenJob>();
  private timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    /** How long a job counts after it came to this process. */
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

  /** At once after a first job, then regularly while some count. */
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
