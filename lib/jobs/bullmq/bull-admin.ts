/**
 * The operators' port of `BullJobs`. A job may still be a row of the database that the relay has not moved. Such a job counts as waiting.
 *
 * BullMQ cannot cancel a job that runs in another process. A key in Redis requests the cancellation, and each worker polls the keys of the
 * jobs that it runs.
 */
import type { Job as BullJob, JobType, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { DatabaseJobs } from "../stores/database/database-jobs.js";
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
} from "../job-admin.js";
import { type BullData, countAttempts, readData } from "./bull-record.js";
import { readTime } from "./bull-ticks.js";
import { MAX_COUNTED } from "../job-store.js";
import { sortQueues } from "../stores/database/queue-summaries.js";

/** The maximum number of jobs of a queue in each state that a list by name reads. */
const MAX_SEARCHED = 10_000;
const PAGE = 1000;
const CANCEL_KEY_SECONDS = 86_400;
const SCORES_PER_MS = 0x1000;

const TYPES: Readonly<Record<JobState, JobType[]>> = {
  running: ["active"],
  waiting: ["wait", "prioritized", "delayed"],
  dead: ["failed"],
};

export interface BullAdminTools {
  readonly prefix: string;
  readonly rows: DatabaseJobs | undefined;
  queue(name: string): Promise<Queue<BullData>>;
  allQueues(): Promise<readonly Queue<BullData>[]>;
  run<T>(commands: (redis: Redis) => Promise<T>): Promise<T>;
}

export class BullAdmin implements JobAdmin {
  constructor(private readonly tools: BullAdminTools) {}

  async list({ queue, states, name, limit }: JobList): Promise<readonly ListedJob[]> {
    const found: ListedJob[] = [];
    for (const state of states) {
      const rows = state === "running" ? [] : await this.listRows({ queue, states: [state], name, limit });
      found.push(...rows, ...(await this.listJobs({ queue, states: [state], name, limit }, state)));
    }
    return found.slice(0, limit);
  }

  async queues(): Promise<readonly QueueSummary[]> {
    const found = new Map<string, QueueSummary>();
    for (const queue of await this.tools.allQueues()) found.set(queue.name, await this.summarize(queue));
    for (const row of (await this.tools.rows?.admin.queues()) ?? []) {
      const moved = found.get(row.queue);
      found.set(row.queue, moved === undefined ? toRowSummary(row) : addRows(moved, row));
    }
    const oldest = new Map<string, number>();
    for (const { queue, oldestDueAt } of found.values()) if (oldestDueAt !== undefined) oldest.set(queue, oldestDueAt);
    // BullMQ remembers queues without jobs.
    const names = [...found.values()].filter(hasJobs).map(({ queue }) => queue);
    return sortQueues(names, oldest).flatMap((name) => found.get(name) ?? []);
  }

  /** BullMQ knows which processes wait on a queue, and not which names they handle. */
  async workers(): Promise<undefined> {
    return undefined;
  }

  async show(id: string): Promise<ShownJob | undefined> {
    const row = await this.tools.rows?.admin.show(id);
    if (row !== undefined) return row.state === "running" ? { ...row, state: "waiting" } : row;
    const job = await this.find(id);
    const state = job === undefined ? undefined : await readState(job);
    if (job === undefined || state === undefined) return undefined;
    const { payload, requestId } = readData(job.data);
    return { ...(await this.toListedJob(job, state)), payload, requestId };
  }

  async cancel(id: string): Promise<Cancellation> {
    const row = await this.tools.rows?.admin.cancel(id);
    if (row === "removed") return row;
    const job = await this.find(id);
    const state = job === undefined ? undefined : await readState(job);
    if (job !== undefined && state === "waiting" && (await removeJob(job))) return "removed";
    if (state === "dead" || (state === undefined && row !== "asked")) return "gone";
    // The job runs, or the relay moves it to Redis at this moment.
    await this.tools.run((redis) => redis.set(this.getCancelKey(id), "1", "EX", CANCEL_KEY_SECONDS));
    return "asked";
  }

  /** Returns the ids of the jobs whose cancellation was requested. */
  async findCancelled(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const asked = await this.tools.run((redis) => redis.mget(ids.map((id) => this.getCancelKey(id))));
    return ids.filter((_, index) => asked[index] !== null);
  }

  async pause(queue: string, by: string): Promise<boolean> {
    await (await this.tools.queue(queue)).pause();
    return this.tools.run(async (redis) => {
      const pause: PausedQueue = { queue, since: await readTime(redis), by };
      return (await redis.hsetnx(this.pausedKey, queue, JSON.stringify(pause))) === 1;
    });
  }

  async resume(queue: string): Promise<boolean> {
    await (await this.tools.queue(queue)).resume();
    return (await this.tools.run((redis) => redis.hdel(this.pausedKey, queue))) === 1;
  }

  async paused(): Promise<readonly PausedQueue[]> {
    const pauses = await this.tools.run((redis) => redis.hgetall(this.pausedKey));
    // `pause` writes the values in this form.
    return Object.keys(pauses)
      .toSorted()
      .map((queue) => JSON.parse(pauses[queue] ?? "") as PausedQueue);
  }

  async purge(request: DeadLetterPurge): Promise<number> {
    let removed = (await this.tools.rows?.admin.purge(request)) ?? 0;
    for (const queue of await this.tools.allQueues()) removed += await purgeQueue(queue, request, removed);
    return removed;
  }

  private async summarize(queue: Queue<BullData>): Promise<QueueSummary> {
    const counts = await queue.getJobCounts("wait", "delayed", "prioritized", "active", "failed");
    const count = (...types: readonly string[]): number =>
      Math.min(
        types.reduce((sum, type) => sum + (counts[type] ?? 0), 0),
        MAX_COUNTED,
      );
    // The first job of each of the three lists.
    const first = await queue.getJobs([...TYPES.waiting], 0, 0, true);
    const listed = await Promise.all(first.map((job) => this.toListedJob(job, "waiting")));
    return {
      queue: queue.name,
      waiting: count("wait", "delayed", "prioritized"),
      running: count("active"),
      dead: count("failed"),
      oldestDueAt: listed.length === 0 ? undefined : Math.min(...listed.map(({ dueAt }) => dueAt ?? Infinity)),
    };
  }

  private async listRows(request: JobList): Promise<readonly ListedJob[]> {
    const [state = "waiting"] = request.states;
    const states: readonly JobState[] = state === "waiting" ? ["running", "waiting"] : request.states;
    const rows = (await this.tools.rows?.admin.list({ ...request, states })) ?? [];
    return rows.map((row) => ({ ...row, state }));
  }

  private async listJobs({ queue, name, limit }: JobList, state: JobState): Promise<readonly ListedJob[]> {
    const bullQueue = await this.tools.queue(queue);
    const found: BullJob<BullData>[] = [];
    for (let at = 0; at < (name === undefined ? 1 : MAX_SEARCHED) && found.length < limit; at += PAGE) {
      const page = await bullQueue.getJobs([...TYPES[state]], at, at + PAGE - 1, state !== "dead");
      if (page.length === 0) break;
      found.push(...page.filter((job) => name === undefined || job.name === name));
    }
    return Promise.all(found.slice(0, limit).map((job) => this.toListedJob(job, state)));
  }

  private async toListedJob(job: BullJob<BullData>, state: JobState): Promise<ListedJob> {
    const { id = "", name, queueName, priority, data, timestamp, failedReason, finishedOn } = job;
    const started = { id, name, queue: queueName, state, priority, attempt: countAttempts(job) };
    return {
      ...started,
      maxAttempts: readData(data).maxAttempts,
      dueAt: state === "waiting" ? ((await this.readDueTime(queueName, id)) ?? timestamp) : undefined,
      reason: state === "dead" ? failedReason : undefined,
      diedAt: state === "dead" ? finishedOn : undefined,
    };
  }

  private async readDueTime(name: string, id: string): Promise<number | undefined> {
    const queue = await this.tools.queue(name);
    const score = await this.tools.run((redis) => redis.zscore(queue.toKey("delayed"), id));
    return score === null ? undefined : Math.trunc(Number(score) / SCORES_PER_MS);
  }

  private async find(id: string): Promise<BullJob<BullData> | undefined> {
    for (const queue of await this.tools.allQueues()) {
      const job = await queue.getJob(id);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  private getCancelKey(id: string): string {
    return `${this.tools.prefix}:jobs:cancel:${id}`;
  }

  private get pausedKey(): string {
    return `${this.tools.prefix}:jobs:paused`;
  }
}

function toRowSummary(row: QueueSummary): QueueSummary {
  return { ...row, waiting: Math.min(row.waiting + row.running, MAX_COUNTED), running: 0 };
}

/** A row that a relay has claimed waits. */
function addRows(moved: QueueSummary, row: QueueSummary): QueueSummary {
  const oldest = Math.min(moved.oldestDueAt ?? Infinity, row.oldestDueAt ?? Infinity);
  return {
    ...moved,
    waiting: Math.min(moved.waiting + row.waiting + row.running, MAX_COUNTED),
    dead: Math.min(moved.dead + row.dead, MAX_COUNTED),
    oldestDueAt: oldest === Infinity ? undefined : oldest,
  };
}

function hasJobs({ waiting, running, dead }: QueueSummary): boolean {
  return waiting + running + dead > 0;
}

async function readState(job: BullJob<BullData>): Promise<JobState | undefined> {
  const state = await job.getState();
  if (state === "completed" || state === "unknown") return undefined;
  if (state === "active") return "running";
  return state === "failed" ? "dead" : "waiting";
}

/** Returns false if a worker has claimed the job in between. */
async function removeJob(job: BullJob<BullData>): Promise<boolean> {
  try {
    await job.remove();
    return true;
  } catch (error) {
    if ((await readState(job)) === "running") return false;
    throw error;
  }
}

/** The number `keep` counts for each queue. */
async function purgeQueue(queue: Queue<BullData>, request: DeadLetterPurge, removed: number): Promise<number> {
  const { olderThanMs, keep, limit } = request;
  const room = limit - removed;
  if (room <= 0) return 0;
  const old = olderThanMs === undefined ? [] : await queue.clean(olderThanMs, room, "failed");
  if (keep === undefined) return old.length;
  const excess = Math.min((await queue.getFailedCount()) - keep, room - old.length);
  const others = excess > 0 ? await queue.getJobs(["failed"], 0, excess - 1, true) : [];
  for (const job of others) await job.remove();
  return old.length + others.length;
}
