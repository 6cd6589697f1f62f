/**
 * The jobs in BullMQ on Redis; the entry point `@stagecraft/framework/jobs/bullmq`. It needs the packages `bullmq` and `ioredis`. Jobs,
 * handlers and dispatches stay the same: only the option `store` names this store.
 *
 * With a `database`, a dispatch in a transaction is a row in it, and a relay moves the rows to Redis: a job exists only if its transaction
 * commits. Outside of a transaction a job goes to Redis at once, or becomes a row while Redis fails. Without a `database`, a dispatch in a
 * transaction goes to Redis after the commit, and a process that dies between the two loses the job.
 *
 * `concurrency` counts for each queue. Keys are `deduplication` of BullMQ.
 *
 * @example
 * provide(Jobs).useFactory((resolve) => new Jobs({ store: new BullJobs({ url, database: resolve(ShopDatabase) }) }));
 */
import type { Worker, Job as BullJob } from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import type { FrameworkError } from "../../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import type { JobTools } from "../worker/handled-job.js";
import { checkQueue } from "../job.js";
import type { JobEngine, JobWorker } from "../job-engine.js";
import type { JobReports } from "../job-reports.js";
import type { JobDatabase } from "../stores/database/job-sql.js";
import { DatabaseJobs } from "../stores/database/database-jobs.js";
import {
  type ClaimedJob,
  type DeadJob,
  type Dispatched,
  type JobCounts,
  MAX_COUNTED,
  type NewJob,
} from "../job-store.js";
import type { WorkerSettings } from "../job-engine.js";
import { currentCommitScope } from "../../lifecycle/commit-scope.js";
import type { SubsystemHost } from "../../lifecycle/operations.js";
import { type Clock, SystemClock } from "../../runtime/clock.js";
import { BullAdmin } from "./bull-admin.js";
import { BullDispatch } from "./bull-dispatch.js";
import type { JobAdmin } from "../job-admin.js";
import { BullConnection, CLIENT_OPTIONS, COMMAND_OPTIONS, trackDuplicates, closeClient } from "./bull-connection.js";
import { loadBullmq, loadIoredis } from "./bull-package.js";
import { BullQueues } from "./bull-queues.js";
import { type BullData, changeData, countAttempts, refuseConcurrency, toRetried } from "./bull-record.js";
import { readLastTick, recordTick, toTickJob, getTicksKey, readTime } from "./bull-ticks.js";
import { BullWorker } from "./bull-worker.js";
import { Relay } from "./relay.js";

export interface BullJobsOptions {
  /** `redis://[[user]:password@]host[:port][/db]`, or `rediss://…`. */
  readonly url: string;
  /** The prefix of every key: letters, digits, `-`, `_` and `.`; `framework` unless set. */
  readonly namespace?: string;
  /** The database in whose transactions jobs are dispatched. */
  readonly database?: JobDatabase;
  /** Further options of the client, such as `tls`. */
  readonly client?: Omit<RedisOptions, "replyMapping">;
}

const NAMES: OptionNames<BullJobsOptions> = { url: true, namespace: true, database: true, client: true };

export class BullJobs implements JobEngine {
  // Not `private`: printing the object would show the password of the URL.
  readonly #options: BullJobsOptions;
  readonly database: JobDatabase | undefined;
  readonly admin: JobAdmin;
  private readonly bullAdmin: BullAdmin;
  private readonly bullmq = loadBullmq();
  private readonly ioredis = loadIoredis();
  private readonly prefix: string;
  private readonly rows: DatabaseJobs | undefined;
  #queues: BullQueues | undefined;
  private clock: Clock = new SystemClock();
  #connection: BullConnection | undefined;
  private relay: Relay | undefined;
  #dispatch: BullDispatch | undefined;
  #worker: BullWorker | undefined;

  /** Opens no connection. @throws FrameworkError `E_OPTION`, `E_JOB_NAME`, `E_JOBS_URL`, `E_PEER_MISSING` */
  constructor(options: BullJobsOptions) {
    this.#options = options;
    checkOptionNames(options, NAMES, "new BullJobs");
    if (!/^rediss?:\/\//.test(options.url)) throw invalidUrl();
    this.prefix = checkQueue(options.namespace ?? "framework");
    this.database = options.database;
    this.rows = options.database === undefined ? undefined : new DatabaseJobs(options.database);
    this.bullAdmin = new BullAdmin({
      prefix: this.prefix,
      rows: this.rows,
      queue: (name) => this.getQueues().get(name),
      allQueues: () => this.getQueues().all(),
      run: (commands) => this.run(commands),
    });
    this.admin = this.bullAdmin;
  }

  get joinsTransactions(): boolean {
    return this.rows?.joinsTransactions ?? false;
  }

  prepare(host: SubsystemHost): void {
    this.clock = host.clock;
    this.rows?.prepare(host);
    if (this.rows !== undefined)
      this.relay = new Relay(
        this.rows,
        async (jobs) => void (await this.getDispatch().addToRedis(jobs, true)),
        host.clock,
      );
  }

  async start(): Promise<void> {
    await this.connect();
    await this.relay?.start();
  }

  /** Like `start`, without the relay. */
  async connect(): Promise<void> {
    this.#connection = new BullConnection(
      this.createClient({ ...this.#options.client, ...COMMAND_OPTIONS }),
      this.clock,
    );
    await this.#connection.open();
    // The relay may be the first to use a queue, after the dispatch has woken the worker.
    const onNewQueue = (): void => this.#worker?.wake();
    this.#queues = new BullQueues(this.#connection, { prefix: this.prefix, clock: this.clock, onNewQueue });
    this.#dispatch = new BullDispatch({
      connection: this.#connection,
      queues: this.#queues,
      clock: this.clock,
      rows: this.rows,
      wakeRelay: () => this.wakeRelay(),
    });
  }

  async stop(): Promise<void> {
    await this.relay?.stop();
    await this.#queues?.close();
    this.#connection?.close();
  }

  async probe(): Promise<void> {
    await this.run((redis) => redis.ping());
  }

  async add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    jobs.forEach(refuseConcurrency);
    return this.getDispatch().add(jobs);
  }

  worker(settings: WorkerSettings, tools: JobTools, reports: JobReports): JobWorker {
    for (const name of tools.handlers.names) refuseConcurrency(tools.handlers.find(name)?.job ?? { name });
    const backend = {
      queues: () => this.getQueues().names(),
      findCancelled: (ids: readonly string[]) => this.bullAdmin.findCancelled(ids),
      change: async ({ id, queue }: ClaimedJob, token: string, data: BullData) => {
        const key = (await this.getQueues().get(queue)).toKey(id);
        return this.run((redis) => changeData(redis, { key, token, data }));
      },
      open: (queue: string, run: (job: BullJob<BullData>, token: string) => Promise<void>, options: object) => {
        const connection = this.createClient(this.#options.client);
        const clients = trackDuplicates(connection);
        const workerOptions = { connection, prefix: this.prefix, ...options };
        const work = async (job: BullJob<BullData>, token = ""): Promise<void> => run(job, token);
        const worker: Worker<BullData> = new this.bullmq.Worker<BullData>(queue, work, workerOptions);
        return { worker, disconnect: () => clients.forEach(closeClient) };
      },
    };
    this.#worker = new BullWorker(backend, settings, tools, reports);
    return this.#worker;
  }

  async tick(schedule: string, due: number, job: NewJob | undefined): Promise<boolean> {
    if (this.rows !== undefined) {
      const isFirst = await this.rows.tick(schedule, due, job);
      if (isFirst) this.wakeRelay();
      return isFirst;
    }
    if (((await this.lastTick(schedule)) ?? -Infinity) >= due) return false;
    if (job !== undefined) await this.getDispatch().addToRedis([toTickJob(schedule, due, job)], true);
    return this.run((redis) => recordTick(redis, getTicksKey(this.prefix), schedule, due));
  }

  async lastTick(schedule: string): Promise<number | undefined> {
    if (this.rows !== undefined) return this.rows.lastTick(schedule);
    return this.run((redis) => readLastTick(redis, getTicksKey(this.prefix), schedule));
  }

  async now(): Promise<number> {
    if (this.rows !== undefined) return this.rows.now();
    return this.run(readTime);
  }

  async dead(limit: number): Promise<readonly DeadJob[]> {
    const lists = await Promise.all((await this.getQueues().all()).map((queue) => queue.getFailed(0, limit - 1)));
    const inRows = (await this.rows?.dead(limit)) ?? [];
    const dead = lists.flat().map(({ id, name, queueName, failedReason, finishedOn, attemptsStarted, data }) => ({
      id: id ?? "",
      name,
      queue: queueName,
      attempt: countAttempts({ data, attemptsStarted }),
      reason: failedReason,
      diedAt: finishedOn ?? 0,
    }));
    return [...inRows, ...dead].toSorted((one, other) => other.diedAt - one.diedAt).slice(0, limit);
  }

  async retry(id: string): Promise<boolean> {
    if ((await this.rows?.retry(id)) === true) {
      this.wakeRelay();
      return true;
    }
    for (const queue of await this.getQueues().all()) {
      const job = await queue.getJob(id);
      if (job !== undefined && (await job.isFailed())) return retryJob(job);
    }
    return false;
  }

  async counts(): Promise<JobCounts> {
    const rows = (await this.rows?.counts()) ?? { waiting: 0, running: 0, dead: 0 };
    const all = { waiting: rows.waiting + rows.running, running: 0, dead: rows.dead };
    for (const queue of await this.getQueues().all()) {
      const counts = await queue.getJobCounts("wait", "delayed", "prioritized", "active", "failed");
      const getCount = (name: string): number => counts[name] ?? 0;
      all.waiting += getCount("wait") + getCount("delayed") + getCount("prioritized");
      all.running += getCount("active");
      all.dead += getCount("failed");
    }
    return { waiting: capCount(all.waiting), running: capCount(all.running), dead: capCount(all.dead) };
  }

  /** Wakes the relay after the commit, because it cannot see the rows of an open transaction. */
  private wakeRelay(): void {
    const scope = currentCommitScope();
    if (scope === undefined) this.relay?.wake();
    else scope.afterCommit(() => this.relay?.wake());
  }

  private run<T>(commands: (redis: Redis) => Promise<T>, limitMs?: number): Promise<T> {
    return this.getConnection().run(commands, limitMs);
  }

  private getConnection(): BullConnection {
    return this.#connection ?? notStarted();
  }

  private getDispatch(): BullDispatch {
    return this.#dispatch ?? notStarted();
  }

  private getQueues(): BullQueues {
    return this.#queues ?? notStarted();
  }

  private createClient(options: BullJobsOptions["client"]): Redis {
    return new this.ioredis.Redis(this.#options.url, { ...options, ...CLIENT_OPTIONS });
  }
}

function capCount(count: number): number {
  return Math.min(count, MAX_COUNTED);
}

/** Returns false if another process has retried the job in between. */
async function retryJob(job: BullJob<BullData>): Promise<boolean> {
  await job.updateData(toRetried(job.data, job.attemptsStarted));
  try {
    await job.retry("failed");
    return true;
  } catch (error) {
    if (await job.isFailed()) throw error;
    return false;
  }
}

function notStarted(): never {
  throw createSetupError("E_JOBS_APART", "BullJobs is not started: the application starts it");
}

function invalidUrl(): FrameworkError {
  // The message leaves out the URL, which may contain a password.
  return createSetupError("E_JOBS_URL", "the URL of BullJobs starts with redis:// or rediss://");
}
