/** One promise of `obeysQueue` on trial: a separate queue, the instances that were started on it, and the time that passes. */
import { randomUUID } from "node:crypto";
import { Handles } from "../../jobs/handles.js";
import { type AnyJob, Job, type JobOptions } from "../../jobs/job.js";
import type { JobContext } from "../../jobs/job-context.js";
import type { JobStore } from "../../jobs/job-store.js";
import type { Jobs } from "../../jobs/jobs.js";
import type { JobsOptions } from "../../jobs/jobs-options.js";
import { Metrics } from "../../observe/metrics/metrics.js";
import type { Clock } from "../../runtime/clock.js";
import type { PromiseRun } from "./contract.js";

export interface QueueContractOptions {
  /** The clock of the application. */
  readonly clock: Clock;
  /** Lets `ms` milliseconds pass: advances the clock of the test, or waits. */
  readonly pass: (ms: number) => unknown;
  /** The store itself, if the steps of a claim are to be tried too. */
  readonly store?: JobStore;
}

/** Makes a subsystem over the store under test, as one instance of an application has it. */
export type MakeJobs = (options: JobsOptions) => Jobs;

const STEP_MS = 100;
const LIMIT_MS = 30_000;

export class QueueTrial {
  readonly run = randomUUID().slice(0, 8);
  readonly queue: string;
  private readonly running: Jobs[] = [];

  constructor(
    number: number,
    private readonly make: MakeJobs,
    readonly options: QueueContractOptions,
    readonly equal: PromiseRun["equal"],
  ) {
    this.queue = `contract-${this.run}-${number}`;
  }

  job<T = unknown>(name: string, options: JobOptions = {}): Job<T> {
    return new Job<T>(`${name}-${this.run}`, undefined, { queue: this.queue, ...options });
  }

  /** An instance that only dispatches. */
  async dispatcher(): Promise<Jobs> {
    return this.startJobs([], { inWebProcess: false });
  }

  /** An instance that works on the queue of this promise. */
  async startJobs(handlers: readonly object[], options: JobsOptions = {}): Promise<Jobs> {
    const jobs = this.make({ queues: [this.queue], ...options });
    jobs.prepare({ name: "jobs", clock: this.options.clock, metrics: new Metrics(), instances: () => handlers });
    await jobs.start();
    this.running.push(jobs);
    await this.settled(jobs.beginWork("web"));
    return jobs;
  }

  /** Ends an instance as the stop of a process does. */
  async stopJobs(jobs: Jobs, deadlineMs = 1000): Promise<void> {
    this.running.splice(this.running.indexOf(jobs), 1);
    await this.settled(jobs.endWork(deadlineMs));
    await jobs.stop();
  }

  async stopAll(): Promise<void> {
    for (let jobs = this.running[0]; jobs !== undefined; jobs = this.running[0]) await this.stopJobs(jobs);
  }

  /** Lets time pass until the condition holds; a fault after 30 seconds. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    for (let passed = 0; !(await condition()); passed += STEP_MS) {
      if (passed > LIMIT_MS) throw new Error(`${what} did not happen within ${LIMIT_MS} ms`);
      await this.options.pass(STEP_MS);
    }
  }

  /** Waits for work that may itself wait for the clock. */
  async settled<T>(work: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const outcome = work.finally(() => (state.isSettled = true));
    outcome.catch(() => {});
    await Promise.resolve();
    while (!state.isSettled) await this.options.pass(STEP_MS);
    return outcome;
  }
}

/** An object whose method handles the job. */
export function createHandler<T>(job: Job<T>, run: (payload: T, ctx: JobContext) => unknown): object {
  const handler = { run };
  // The decorator as a function: the compiler cannot compare the payload of a job that a value names.
  const decorate = Handles(job as AnyJob as Job) as unknown as (target: object, key: string) => void;
  decorate(handler, "run");
  return handler;
}
