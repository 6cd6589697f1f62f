/**
 * Adds dispatched jobs to Redis at once, or as rows of the database, which the relay moves to Redis after the commit.
 *
 * Outside of a transaction a row has no advantage over Redis. Jobs with a key or a delay are rows nevertheless, because rows are unique by
 * key and wait in the database.
 */
import type { DatabaseJobs } from "../stores/database/database-jobs.js";
import type { Dispatched, NewJob } from "../job-store.js";
import { currentCommitScope } from "../../lifecycle/commit-scope.js";
import type { Clock } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { type BullConnection, COMMAND_LIMIT_MS } from "./bull-connection.js";
import { addKeyed, findMoved, type KeyTools } from "./bull-keys.js";
import type { BullQueues } from "./bull-queues.js";
import { toBullData, toBullOptions } from "./bull-record.js";

const log = tracing.target("framework::jobs::bullmq");

/** The time for which a dispatch with a database waits for Redis. */
const DIRECT_LIMIT_MS = 500;
/** After a failure of Redis the dispatches go to the database for this time. */
const BACK_OFF_MS = 5000;
const KEYED_MS = 100;

export interface BullDispatchTools {
  readonly connection: BullConnection;
  readonly queues: BullQueues;
  readonly clock: Clock;
  readonly rows: DatabaseJobs | undefined;
  /** Called when a row was added. The relay moves it after the commit. */
  readonly wakeRelay: () => void;
}

export class BullDispatch {
  private backOffUntil = -Infinity;

  constructor(private readonly tools: BullDispatchTools) {}

  async add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    const { rows } = this.tools;
    if (rows === undefined) return this.addToRedis(jobs, false);
    const direct = await this.addDirectly(jobs);
    if (direct !== undefined) return direct;
    const existing = await this.findExisting(jobs);
    const added = [...(await rows.add(jobs.filter((job) => !existing.has(job))))];
    this.tools.wakeRelay();
    return jobs.map((job) => existing.get(job) ?? added.shift() ?? { outcome: "created", id: job.id });
  }

  /** Adds the jobs to Redis. Jobs with keys are added one after the other. */
  addToRedis(jobs: readonly NewJob[], mayComeTwice: boolean): Promise<readonly Dispatched[]> {
    const keyed = jobs.filter(({ key }) => key !== undefined).length;
    return this.tools.connection.run(() => this.addAll(jobs, mayComeTwice), COMMAND_LIMIT_MS + keyed * KEYED_MS);
  }

  /** Undefined if Redis may not have the jobs. Their rows have the same ids, so a job that reached Redis after all runs once. */
  private async addDirectly(jobs: readonly NewJob[]): Promise<readonly Dispatched[] | undefined> {
    const isPlain = jobs.every(({ key, delayMs }) => key === undefined && delayMs <= 0);
    if (!isPlain || currentCommitScope() !== undefined) return undefined;
    return this.tryRedis(() => this.addAll(jobs, true));
  }

  /**
   * Finds the jobs whose key another job in Redis has, which is unique until it is done. The relay would drop their rows. The relay may
   * move such a job between this search and the insertion of the row. Then the outcome is `created`, and the row is dropped.
   */
  private async findExisting(jobs: readonly NewJob[]): Promise<ReadonlyMap<NewJob, Dispatched>> {
    const keyed = jobs.filter(({ key, unique }) => key !== undefined && unique === "until-done");
    const existing = new Map<NewJob, Dispatched>();
    if (keyed.length === 0) return existing;
    await this.tryRedis(async () => {
      for (const job of keyed) {
        const id = await findMoved(await this.getKeyTools(job), job);
        if (id !== undefined) existing.set(job, { outcome: "kept", id });
      }
    });
    return existing;
  }

  /** Undefined if Redis does not reply within half a second, or has failed in the last seconds. */
  private async tryRedis<T>(commands: () => Promise<T>): Promise<T | undefined> {
    const { connection, clock } = this.tools;
    if (!connection.isReady() || clock.monotonic() < this.backOffUntil) return undefined;
    try {
      return await connection.run(commands, DIRECT_LIMIT_MS);
    } catch (error) {
      log.debug("jobs added to the database, because Redis has failed", { error });
      this.backOffUntil = clock.monotonic() + BACK_OFF_MS;
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
        data: toBullData(job),
        opts: toBullOptions(job, mayComeTwice),
      }));
      const bullQueue = await this.tools.queues.get(queue);
      const [first] = records;
      // For many jobs BullMQ uses a transaction of Redis, which one job does not need.
      if (records.length === 1 && first !== undefined) await bullQueue.add(first.name, first.data, first.opts);
      else await bullQueue.addBulk(records);
    }
    for (const job of jobs) {
      if (job.key === undefined) results.set(job, { outcome: "created", id: job.id });
      else results.set(job, await addKeyed(await this.getKeyTools(job), job, toBullOptions(job, mayComeTwice)));
    }
    return jobs.map((job) => results.get(job) ?? { outcome: "created", id: job.id });
  }

  private async getKeyTools({ queue }: NewJob): Promise<KeyTools> {
    return { queue: await this.tools.queues.get(queue), redis: await this.tools.connection.waitForClient() };
  }
}
