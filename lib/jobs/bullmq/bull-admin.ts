/**
 * The questions and orders of operators to `BullJobs`. A job may still be a row of the database, before the relay has moved it: then it
 * waits.
 *
 * BullMQ does not tell a worker to end one job. A key in Redis asks for it, and the workers look for the keys of the jobs that they run.
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
  ShownJob,
} from "../job-admin.js";
import type { BullData } from "./bull-record.js";
import { timeOf } from "./bull-ticks.js";

/** A list by name reads this many jobs of a queue in each state. */
const MAX_SEARCHED = 10_000;
const PAGE = 1000;
const ASKED_SECONDS = 86_400;
const SCORES_PER_MS = 0x1000;

const TYPES: Readonly<Record<JobState, JobType[]>> = {
  running: ["active"],
  waiting: ["wait", "prioritized", "delayed"],
  dead: ["failed"],
};

export interface BullAdminPlace {
  readonly prefix: string;
  readonly rows: DatabaseJobs | undefined;
  queue(name: string): Promise<Queue<BullData>>;
  allQueues(): Promise<readonly Queue<BullData>[]>;
  run<T>(commands: (redis: Redis) => Promise<T>): Promise<T>;
}

export class BullAdmin implements JobAdmin {
  constructor(private readonly place: BullAdminPlace) {}

  async list({ queue, states, name, limit }: JobList): Promise<readonly ListedJob[]> {
    const found: ListedJob[] = [];
    for (const state of states) {
      const ofRows = state === "running" ? [] : await this.rowsOf({ queue, states: [state], name, limit });
      found.push(...ofRows, ...(await this.jobsOf({ queue, states: [state], name, limit }, state)));
    }
    return found.slice(0, limit);
  }

  async show(id: string): Promise<ShownJob | undefined> {
    const row = await this.place.rows?.admin.show(id);
    if (row !== undefined) return row.state === "running" ? { ...row, state: "waiting" } : row;
    const job = await this.find(id);
    const state = job === undefined ? undefined : await stateOf(job);
    if (job === undefined || state === undefined) return undefined;
    return { ...(await this.listed(job, state)), payload: job.data.p, requestId: job.data.r };
  }

  async cancel(id: string): Promise<Cancellation> {
    const row = await this.place.rows?.admin.cancel(id);
    if (row === "removed") return row;
    const job = await this.find(id);
    const state = job === undefined ? undefined : await stateOf(job);
    if (job !== undefined && state === "waiting" && (await isRemoved(job))) return "removed";
    if (state === "dead" || (state === undefined && row !== "asked")) return "gone";
    // The job runs, or the relay moves it to Redis at this moment.
    await this.place.run((redis) => redis.set(this.askedKey(id), "1", "EX", ASKED_SECONDS));
    return "asked";
  }

  /** Those of the jobs that somebody asked to cancel. */
  async askedOf(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const asked = await this.place.run((redis) => redis.mget(ids.map((id) => this.askedKey(id))));
    return ids.filter((_, index) => asked[index] !== null);
  }

  async pause(queue: string, by: string): Promise<boolean> {
    await (await this.place.queue(queue)).pause();
    return this.place.run(async (redis) => {
      const pause: PausedQueue = { queue, since: await timeOf(redis), by };
      return (await redis.hsetnx(this.pausedKey, queue, JSON.stringify(pause))) === 1;
    });
  }

  async resume(queue: string): Promise<boolean> {
    await (await this.place.queue(queue)).resume();
    return (await this.place.run((redis) => redis.hdel(this.pausedKey, queue))) === 1;
  }

  async paused(): Promise<readonly PausedQueue[]> {
    const pauses = await this.place.run((redis) => redis.hgetall(this.pausedKey));
    // As `pause` writes them.
    return Object.keys(pauses)
      .toSorted()
      .map((queue) => JSON.parse(pauses[queue] ?? "") as PausedQueue);
  }

  async purge(request: DeadLetterPurge): Promise<number> {
    let removed = (await this.place.rows?.admin.purge(request)) ?? 0;
    for (const queue of await this.place.allQueues()) removed += await purgeQueue(queue, request, removed);
    return removed;
  }

  private async rowsOf(request: JobList): Promise<readonly ListedJob[]> {
    const [state = "waiting"] = request.states;
    const states: readonly JobState[] = state === "waiting" ? ["running", "waiting"] : request.states;
    const rows = (await this.place.rows?.admin.list({ ...request, states })) ?? [];
    return rows.map((row) => ({ ...row, state }));
  }

  private async jobsOf({ queue, name, limit }: JobList, state: JobState): Promise<readonly ListedJob[]> {
    const place = await this.place.queue(queue);
    const found: BullJob<BullData>[] = [];
    for (let at = 0; at < (name === undefined ? 1 : MAX_SEARCHED) && found.length < limit; at += PAGE) {
      const page = await place.getJobs([...TYPES[state]], at, at + PAGE - 1, state !== "dead");
      if (page.length === 0) break;
      found.push(...page.filter((job) => name === undefined || job.name === name));
    }
    return Promise.all(found.slice(0, limit).map((job) => this.listed(job, state)));
  }

  private async listed(job: BullJob<BullData>, state: JobState): Promise<ListedJob> {
    const { id = "", name, queueName, priority, data, attemptsStarted, timestamp, failedReason, finishedOn } = job;
    const started = { id, name, queue: queueName, state, priority, attempt: attemptsStarted - data.o };
    return {
      ...started,
      maxAttempts: data.m,
      dueAt: state === "waiting" ? ((await this.delayedUntil(queueName, id)) ?? timestamp) : undefined,
      reason: state === "dead" ? failedReason : undefined,
      diedAt: state === "dead" ? finishedOn : undefined,
    };
  }

  private async delayedUntil(name: string, id: string): Promise<number | undefined> {
    const queue = await this.place.queue(name);
    const score = await this.place.run((redis) => redis.zscore(queue.toKey("delayed"), id));
    return score === null ? undefined : Math.trunc(Number(score) / SCORES_PER_MS);
  }

  private async find(id: string): Promise<BullJob<BullData> | undefined> {
    for (const queue of await this.place.allQueues()) {
      const job = await queue.getJob(id);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  private askedKey(id: string): string {
    return `${this.place.prefix}:jobs:cancel:${id}`;
  }

  private get pausedKey(): string {
    return `${this.place.prefix}:jobs:paused`;
  }
}

async function stateOf(job: BullJob<BullData>): Promise<JobState | undefined> {
  const state = await job.getState();
  if (state === "completed" || state === "unknown") return undefined;
  if (state === "active") return "running";
  return state === "failed" ? "dead" : "waiting";
}

/** False if a worker has taken the job in between. */
async function isRemoved(job: BullJob<BullData>): Promise<boolean> {
  try {
    await job.remove();
    return true;
  } catch (error) {
    if ((await stateOf(job)) === "running") return false;
    throw error;
  }
}

/** A number of dead letters to keep counts for each queue. */
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
