/**
 * The way of a dispatch: to Redis at once, or as a row of the database, which the relay moves to Redis after the commit.
 *
 * Outside of a transaction a row gives nothing that Redis does not. Jobs with a key or a delay are rows all the same, because rows are unique
 * by key and wait in the database.
 */
import type { DatabaseJobs } from "../stores/database/database-jobs.js";
import type { Dispatched, NewJob } from "../job-store.js";
import { currentCommitScope } from "../../lifecycle/commit-scope.js";
import type { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { type BullConnection, COMMAND_LIMIT_MS } from "./bull-connection.js";
import { addKeyed, findMoved, type KeyPlace } from "./bull-keys.js";
import type { BullQueues } from "./bull-queues.js";
import { bullData, bullOptions } from "./bull-record.js";

const log = tracing.target("framework::jobs::bullmq");

/** How long a dispatch with a database waits for Redis. */
const DIRECT_LIMIT_MS = 500;
/** After a failure of Redis the dispatches go to the database for this time. */
const DISTRUST_MS = 5000;
const KEYED_MS = 100;

export interface BullDispatchPlace {
  readonly connection: BullConnection;
  readonly queues: BullQueues;
  readonly clock: Clock;
  readonly rows: DatabaseJobs | undefined;
  /** Called when a row may have been committed. */
  readonly wakeRelay: () => void;
}

export class BullDispatch {
  private distrustedUntil = -Infinity;

  constructor(private readonly place: BullDispatchPlace) {}

  async add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    const { rows } = this.place;
    if (rows === undefined) return this.addInTime(jobs, false);
    const direct = await this.addDirectly(jobs);
    if (direct !== undefined) return direct;
    const kept = await this.findKept(jobs);
    const added = [...(await rows.add(jobs.filter((job) => !kept.has(job))))];
    this.place.wakeRelay();
    return jobs.map((job) => kept.get(job) ?? added.shift() ?? { outcome: "created", id: job.id });
  }

  /** Adds the jobs to Redis. Jobs with keys are added one after the other. */
  addInTime(jobs: readonly NewJob[], mayComeTwice: boolean): Promise<readonly Dispatched[]> {
    const keyed = jobs.filter(({ key }) => key !== undefined).length;
    return this.place.connection.run(() => this.addAll(jobs, mayComeTwice), COMMAND_LIMIT_MS + keyed * KEYED_MS);
  }

  /** Undefined if Redis may not have the jobs: the rows have the same ids, so a job that it has after all runs once. */
  private async addDirectly(jobs: readonly NewJob[]): Promise<readonly Dispatched[] | undefined> {
    const isPlain = jobs.every(({ key, delayMs }) => key === undefined && delayMs <= 0);
    if (!isPlain || currentCommitScope() !== undefined) return undefined;
    return this.inMoments(() => this.addAll(jobs, true));
  }

  /**
   * The jobs that Redis has another job for, which is unique until it is done: the relay would drop their rows. The relay may move such a job
   * between this look and the insertion of the row. Then the outcome is `created`, and the row is dropped.
   */
  private async findKept(jobs: readonly NewJob[]): Promise<ReadonlyMap<NewJob, Dispatched>> {
    const keyed = jobs.filter(({ key, unique }) => key !== undefined && unique === "until-done");
    const kept = new Map<NewJob, Dispatched>();
    if (keyed.length === 0) return kept;
    await this.inMoments(async () => {
      for (const job of keyed) {
        const id = await findMoved(await this.keyPlace(job), job);
        if (id !== undefined) kept.set(job, { outcome: "kept", id });
      }
    });
    return kept;
  }

  /** Undefined if Redis does not answer in a moment, or has failed before. */
  private async inMoments<T>(commands: () => Promise<T>): Promise<T | undefined> {
    const { connection, clock } = this.place;
    if (!connection.isReady() || clock.monotonic() < this.distrustedUntil) return undefined;
    try {
      return await connection.run(commands, DIRECT_LIMIT_MS);
    } catch (error) {
      log.debug("jobs added to the database, because Redis has failed", { error });
      this.distrustedUntil = clock.monotonic() + DISTRUST_MS;
      return undefined;
    }
  }

  private async addAll(jobs: readonly NewJob[], mayComeTwice: boolean): Promise<readonly Dispatched[]> {
    const results = new Map<NewJob, Dispatched>();
    const plain = jobs.filter(({ key }) => key === undefined);
    for (const queue of new Set(plain.map((job) => job.queue))) {
      const some = plain.filter((job) => job.queue === queue);
      const records = some.map((job) => ({
        name: job.name,
        data: bullData(job),
        opts: bullOptions(job, mayComeTwice),
      }));
      const place = await this.place.queues.get(queue);
      const [first] = records;
      // For many jobs BullMQ uses a transaction of Redis, which one job does not need.
      if (records.length === 1 && first !== undefined) await place.add(first.name, first.data, first.opts);
      else await place.addBulk(records);
    }
    for (const job of jobs) {
      if (job.key === undefined) results.set(job, { outcome: "created", id: job.id });
      else results.set(job, await addKeyed(await this.keyPlace(job), job, bullOptions(job, mayComeTwice)));
    }
    return jobs.map((job) => results.get(job) ?? { outcome: "created", id: job.id });
  }

  private async keyPlace({ queue }: NewJob): Promise<KeyPlace> {
    return { queue: await this.place.queues.get(queue), redis: await this.place.connection.ready() };
  }
}
