/** The operators' port of `MemoryJobs`, and the lists that both read. */
import type { Clock } from "../../../runtime/clock.js";
import type {
  Cancellation,
  DeadLetterPurge,
  JobAdmin,
  JobList,
  JobState,
  ListedJob,
  PausedQueue,
  QueueSummary,
  ShownJob,
} from "../../job-admin.js";
import { MAX_COUNTED, type UnhandledJobs } from "../../job-store.js";
import { sortQueues } from "../database/queue-summaries.js";
import { comesBefore, type StoredJob, type WaitingJobs } from "./memory-waiting.js";

export class MemoryAdmin implements JobAdmin {
  private readonly pauses = new Map<string, PausedQueue>();

  constructor(
    private readonly jobs: Map<string, StoredJob>,
    private readonly waiting: WaitingJobs,
    private readonly clock: Clock,
  ) {}

  async list({ queue, states, name, limit }: JobList): Promise<readonly ListedJob[]> {
    const ofQueue = [...this.jobs.values()].filter(
      (job) => job.queue === queue && (name === undefined || job.name === name),
    );
    return states
      .flatMap((state) => orderJobs(ofQueue, state))
      .slice(0, limit)
      .map(toListedJob);
  }

  async queues(): Promise<readonly QueueSummary[]> {
    const all = [...this.jobs.values()];
    const oldest = new Map<string, number>();
    for (const { queue, state, due } of all)
      if (state === "waiting") oldest.set(queue, Math.min(oldest.get(queue) ?? Infinity, due));
    const queues = sortQueues(
      all.map(({ queue }) => queue),
      oldest,
    );
    return queues.map((queue) => {
      const count = (state: JobState): number =>
        Math.min(all.filter((job) => job.queue === queue && job.state === state).length, MAX_COUNTED);
      const [waiting, running, dead] = [count("waiting"), count("running"), count("dead")];
      return { queue, waiting, running, dead, oldestDueAt: oldest.get(queue) };
    });
  }

  /** Only the process of the jobs could work them. */
  async workers(): Promise<undefined> {
    return undefined;
  }

  async show(id: string): Promise<ShownJob | undefined> {
    const job = this.jobs.get(id);
    return job === undefined ? undefined : { ...toListedJob(job), payload: job.payload, requestId: job.requestId };
  }

  async cancel(id: string): Promise<Cancellation> {
    const job = this.jobs.get(id);
    if (job?.state === "running") {
      job.isCancelled = true;
      return "asked";
    }
    if (job?.state !== "waiting") return "gone";
    this.waiting.remove(job);
    this.jobs.delete(id);
    return "removed";
  }

  async pause(queue: string, by: string): Promise<boolean> {
    if (this.pauses.has(queue)) return false;
    this.pauses.set(queue, { queue, since: this.clock.now(), by });
    return true;
  }

  async resume(queue: string): Promise<boolean> {
    return this.pauses.delete(queue);
  }

  isPaused(queue: string): boolean {
    return this.pauses.has(queue);
  }

  async paused(): Promise<readonly PausedQueue[]> {
    return [...this.pauses.values()].toSorted((one, other) => (one.queue < other.queue ? -1 : 1));
  }

  async purge({ olderThanMs = Infinity, keep = Infinity, limit }: DeadLetterPurge): Promise<number> {
    const now = this.clock.now();
    const dead = orderJobs([...this.jobs.values()], "dead");
    const old = dead.filter(({ diedAt }, index) => index >= keep || diedAt < now - olderThanMs);
    const removed = old.toReversed().slice(0, limit);
    for (const { id } of removed) this.jobs.delete(id);
    return removed.length;
  }
}

export function countUnhandled(all: Iterable<StoredJob>): readonly UnhandledJobs[] {
  const found = new Map<string, UnhandledJobs>();
  for (const { state, name, queue, unhandledSince: since } of all) {
    if (state !== "waiting" || since === undefined) continue;
    const key = `${name} ${queue}`;
    const { jobs, since: first } = found.get(key) ?? { jobs: 0, since };
    found.set(key, { name, queue, jobs: jobs + 1, since: Math.min(first, since) });
  }
  return [...found.values()];
}

/** The jobs in the state: dead letters with the latest first, other jobs in the order of their claims. */
export function orderJobs(jobs: readonly StoredJob[], state: JobState): readonly StoredJob[] {
  const some = jobs.filter((job) => job.state === state);
  if (state !== "dead") return some.toSorted((one, other) => (comesBefore(one, other) ? -1 : 1));
  return some.toSorted((one, other) => other.diedAt - one.diedAt || (one.id < other.id ? 1 : -1));
}

function toListedJob(job: StoredJob): ListedJob {
  const { id, name, queue, state, priority, attempt, maxAttempts } = job;
  const listed = { id, name, queue, state, priority, attempt, maxAttempts };
  return {
    ...listed,
    dueAt: state === "waiting" ? job.due : undefined,
    reason: state === "dead" ? job.reason : undefined,
    diedAt: state === "dead" ? job.diedAt : undefined,
  };
}
