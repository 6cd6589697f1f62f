/**
 * Work that outlives its request. Inject `Jobs`, and dispatch a job; a method with `@Handles` runs it, in this process or in another one,
 * at least once. Inside a transaction of a database the job exists only if the transaction commits.
 *
 * By default the web process works too. With `inWebProcess: false` only a process that calls `application.work()` does.
 *
 * Not for work whose result the response needs.
 *
 * @example
 * @Module({ providers: [Jobs, WelcomeMails, provide(ShopDatabase).useFactory(() => new ShopDatabase(sqlite("shop.db")))] })
 *
 * constructor(private readonly jobs: Jobs) {}
 * signUp(to: string) { return this.jobs.dispatch(sendWelcome, { to }, { delay: 60_000 }); }
 */
import { type Diagnostic, StartupError } from "../errors/diagnostic.js";
import type { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { currentCommitScope } from "../lifecycle/commit-scope.js";
import { Operations, type SubsystemHost } from "../lifecycle/operations.js";
import { findProcessState, type PerProcess, type ProcessState } from "../lifecycle/process-state.js";
import { type ProviderWork, Subsystem, type WorkingProcess } from "../lifecycle/subsystem.js";
import { JOB_HANDLE, SCHEDULE_TICK } from "../observe/request-span.js";
import { markHandled } from "../runtime/mark-handled.js";
import { type DispatchOptions, NewJobs } from "./new-jobs.js";
import { DatabaseJobs } from "./stores/database/database-jobs.js";
import { checkQueue, type AnyJob, type Job } from "./job.js";
import { isJobEngine, type JobEngine, type JobWorker } from "./job-engine.js";
import { isJobDatabase, type JobDatabase } from "./stores/database/job-sql.js";
import { describeJobMethods, JobHandlers } from "./job-handlers.js";
import { JobReports } from "./job-reports.js";
import { checkActor, checkLimit, checkList, type ListOptions } from "./admin-options.js";
import type { Cancellation, ListedJob, PausedQueue, QueueSummary, ShownJob } from "./job-admin.js";
import { checkPurge, DeadLetterRetention, purgeAll, type PurgeOptions } from "./dead-letters.js";
import type { DeadJob, Dispatched, JobCounts, JobStore, NewJob } from "./job-store.js";
import { queueListeners } from "./queued-listeners.js";
import { ScheduleTicker } from "./schedules/schedule-ticker.js";
import { readSettings, type JobsOptions, type JobsSettings, type OperatedJobs } from "./jobs-options.js";
import { StoreWorker } from "./worker/store-worker.js";
import type { JobTools } from "./worker/handled-job.js";

/** The arguments of a dispatch: a job without a payload needs none. */
export type DispatchArguments<Input> = undefined extends Input
  ? readonly [payload?: Input, options?: DispatchOptions]
  : readonly [payload: Input, options?: DispatchOptions];

const MAX_AT_ONCE = 500;

/** The parts that `prepare` creates. */
interface JobParts {
  readonly tools: JobTools;
  readonly reports: JobReports;
  readonly dispatching: Operations;
  readonly ticking: Operations;
}

export class Jobs extends Subsystem implements PerProcess {
  readonly kind = "jobs";
  override readonly name: string;
  override readonly followsRequests = true;
  override readonly sharesWork: boolean;
  private settings: JobsSettings;
  private readonly newJobs = new NewJobs();
  private store: JobStore | JobEngine | undefined;
  private readonly inWebProcess: boolean;
  private prepared: JobParts | undefined;
  private worker: JobWorker | undefined;
  private ticker: ScheduleTicker | undefined;
  private retention: DeadLetterRetention | undefined;

  /** @throws FrameworkError `E_OPTION`, `E_JOB_OPTION`, `E_JOB_NAME` */
  constructor(options: JobsOptions = {}) {
    super();
    const { store, inWebProcess = true, name = "Jobs" } = options;
    this.name = name;
    this.store = store;
    this.sharesWork = findProcessState(store) === undefined;
    this.inWebProcess = inWebProcess;
    this.settings = readSettings(options);
  }

  override prepare(host: SubsystemHost): void {
    const instances = host.instances?.() ?? [];
    const listeners = queueListeners(instances, (job, payload) => this.dispatchOne(job, payload, {}));
    const handlers = JobHandlers.of(instances, listeners);
    this.store ??= this.createStore(instances.filter(isJobDatabase));
    this.store.prepare?.(host);
    const createOperations = (span: string): Operations => new Operations({ target: "framework::jobs", span }, host);
    this.newJobs.useClock(host.clock);
    this.prepared = {
      tools: { handlers, operations: createOperations(JOB_HANDLE), clock: host.clock },
      reports: new JobReports(host),
      dispatching: createOperations("framework.job.dispatch"),
      ticking: createOperations(SCHEDULE_TICK),
    };
  }

  /** That of the store. */
  get perProcess(): ProcessState | undefined {
    return findProcessState(this.store);
  }

  /** @internal */
  override describeProvider(provider: object): ProviderWork {
    return describeJobMethods(provider);
  }

  override async start(): Promise<void> {
    await this.getStore().start?.();
  }

  override async stop(): Promise<void> {
    await this.getStore().stop?.();
  }

  override probe(signal: AbortSignal): unknown {
    return this.getStore().probe?.(signal);
  }

  override async beginWork(process: WorkingProcess): Promise<void> {
    if (process === "web" && !this.inWebProcess) return;
    const store = this.getStore();
    const { tools, reports, ticking } = this.getParts();
    this.worker = isJobEngine(store)
      ? store.worker(this.settings, tools, reports)
      : new StoreWorker(store, this.settings, tools, reports);
    await this.worker.start();
    this.ticker = new ScheduleTicker(tools.handlers.schedules(), {
      store,
      clock: tools.clock,
      operations: ticking,
      reports,
      newJob: (schedule, tick) => this.newJobs.create(schedule, tick, {}),
      added: () => this.wake(),
    });
    this.ticker.start();
    const { deadLetters } = this.settings;
    if (deadLetters !== undefined)
      this.retention = DeadLetterRetention.start(store.admin, deadLetters, tools.clock, reports);
  }

  override async endWork(deadlineMs: number): Promise<void> {
    await this.ticker?.stop();
    await this.retention?.stop();
    await this.worker?.stop(deadlineMs);
    this.worker = undefined;
  }

  /**
   * Adds a job. Resolves when the store has it; inside a transaction that the store does not join, it resolves earlier, and the job is
   * added after the commit.
   *
   * @throws FrameworkError `E_JOB_PAYLOAD` if the schema refuses the payload or it has more than 64 KiB of JSON, `E_JOB_OPTION`; the errors
   * of the store
   */
  dispatch<Input>(job: Job<Input, unknown>, ...rest: DispatchArguments<Input>): Promise<Dispatched> {
    const [payload, options = {}] = rest;
    return markHandled(this.dispatchOne(job, payload, options));
  }

  /** Adds many jobs in few statements. If one payload is refused, no job is added. The results are in the order of the payloads. */
  dispatchAll<Input>(
    job: Job<Input, unknown>,
    payloads: readonly Input[],
    options: Omit<DispatchOptions, "key" | "unique"> = {},
  ): Promise<readonly Dispatched[]> {
    const make = async (): Promise<readonly Dispatched[]> =>
      this.addAll(await this.newJobs.createAll(job, payloads, options));
    return markHandled(make());
  }

  /** The dead letters, the latest first. @param limit at most 1000 */
  dead(limit = 100): Promise<readonly DeadJob[]> {
    return this.getStore().dead(checkLimit(limit));
  }

  /** Runs a dead job again, with all its attempts. False if there is no such dead job. */
  async retry(id: string): Promise<boolean> {
    const isRetried = await this.getStore().retry(id);
    if (isRetried) this.wake();
    return isRetried;
  }

  /** The numbers of jobs. Each is at most 10 001, which means more than 10 000. */
  counts(): Promise<JobCounts> {
    return this.getStore().counts();
  }

  /**
   * The jobs of a queue, without their payloads: the running jobs, the waiting jobs in the order in which they will run, and the dead
   * letters, the latest first.
   *
   * @throws FrameworkError `E_JOB_OPTION`, `E_JOB_NAME`
   */
  list(options: ListOptions): Promise<readonly ListedJob[]> {
    return this.getStore().admin.list(checkList(options));
  }

  /**
   * The queues with jobs, at most 100, and their numbers of jobs, each of which is at most 10 001. The queue whose job has waited longest
   * comes first.
   */
  queues(): Promise<readonly QueueSummary[]> {
    return this.getStore().admin.queues();
  }

  /** One job with its payload as JSON; `undefined` if it has ended. */
  show(id: string): Promise<ShownJob | undefined> {
    return this.getStore().admin.show(id);
  }

  /**
   * Removes a waiting job, and aborts the signal of a running one with a `JobCancelledError`; in another process it aborts at the next
   * heartbeat, within about 10 seconds. A job whose handler then throws is not retried.
   */
  async cancel(id: string): Promise<Cancellation> {
    const cancellation = await this.getStore().admin.cancel(id);
    // The transaction may still roll the cancellation back. After the commit the next heartbeat finds it.
    if (cancellation === "asked" && currentCommitScope() === undefined) this.worker?.cancel(id);
    return cancellation;
  }

  /**
   * No process claims a job of the queue until `resume`. Jobs that run go on. False if the queue was paused already.
   *
   * @param options.by who pauses it; the machine and the process unless set
   * @throws FrameworkError `E_JOB_NAME`, `E_JOB_OPTION`
   */
  async pause(queue: string, options: { readonly by?: string } = {}): Promise<boolean> {
    return this.getStore().admin.pause(checkQueue(queue), checkActor(options.by));
  }

  /** False if the queue was not paused. @throws FrameworkError `E_JOB_NAME` */
  async resume(queue: string): Promise<boolean> {
    const isResumed = await this.getStore().admin.resume(checkQueue(queue));
    this.wake();
    return isResumed;
  }

  /** The paused queues, with who paused them and since when. */
  paused(): Promise<readonly PausedQueue[]> {
    return this.getStore().admin.paused();
  }

  /** Removes old dead letters. Returns their number. @throws FrameworkError `E_JOB_OPTION`, `E_OPTION` */
  purge(options: PurgeOptions): Promise<number> {
    return purgeAll(this.getStore().admin, checkPurge(options));
  }

  /** For the command, after `build()`. @internal */
  get operated(): OperatedJobs {
    const { tools, reports } = this.getParts();
    const isBusy = this.worker?.isBusy ?? false;
    return { store: this.getStore(), handlers: tools.handlers, settings: this.settings, isBusy, dead: reports.dead };
  }

  /** Overrides options of the constructor, before the start. @internal */
  changeSettings(settings: Partial<Pick<JobsSettings, "queues" | "concurrency">>): void {
    this.settings = { ...this.settings, ...settings };
  }

  private async dispatchOne(job: AnyJob, payload: unknown, options: DispatchOptions): Promise<Dispatched> {
    const newJob = await this.newJobs.create(job, payload, options);
    const [dispatched] = await this.addAll([newJob]);
    return dispatched ?? { outcome: "created", id: newJob.id };
  }

  private async addAll(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    const scope = currentCommitScope();
    if (scope === undefined) return this.add(jobs);
    if (this.getStore().joinsTransactions) {
      const results = await this.add(jobs);
      scope.afterCommit(() => this.wake());
      return results;
    }
    scope.afterCommit(() => this.add(jobs));
    return jobs.map(({ id }) => ({ outcome: "created", id }));
  }

  private async add(jobs: readonly NewJob[]): Promise<readonly Dispatched[]> {
    const { dispatching } = this.getParts();
    const results: Dispatched[] = [];
    for (let at = 0; at < jobs.length; at += MAX_AT_ONCE) {
      const some = jobs.slice(at, at + MAX_AT_ONCE);
      results.push(...(await dispatching.run("dispatch", () => this.getStore().add(some), { jobs: some.length })));
    }
    if (currentCommitScope() === undefined) this.wake();
    return results;
  }

  private wake(): void {
    this.worker?.wake();
    this.getStore().announce?.();
  }

  /** The default store is the database of the application, if there is exactly one. */
  private createStore(databases: readonly JobDatabase[]): JobStore {
    const [database, other] = databases;
    if (database === undefined || other !== undefined) throw new StartupError([noStore(this.name, databases.length)]);
    return new DatabaseJobs(database);
  }

  private getStore(): JobStore | JobEngine {
    if (this.store === undefined) throw notPrepared();
    return this.store;
  }

  private getParts(): JobParts {
    if (this.prepared === undefined) throw notPrepared();
    return this.prepared;
  }
}

function noStore(name: string, databases: number): Diagnostic {
  const isMissing = databases === 0;
  return {
    code: "E_JOBS_STORE",
    what: isMissing
      ? `${name} has no store and no database to wait in`
      : `${name} could wait in ${databases} databases`,
    where: "new Jobs({ store })",
    fix: isMissing
      ? "provide a database; new Jobs({ store: new MemoryJobs() }) keeps jobs in the process, where they can be lost"
      : "name one: new Jobs({ store: new DatabaseJobs(database) })",
  };
}

function notPrepared(): FrameworkError {
  return createSetupError("E_JOBS_APART", "Jobs work in an application: list them as a provider, and build it");
}
