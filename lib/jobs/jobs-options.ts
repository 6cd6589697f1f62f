/** The options of `new Jobs`. */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { checkQueueLimits } from "./admin-options.js";
import { checkPurge, type PurgeOptions } from "./dead-letters.js";
import { checkQueue, checkJobOption } from "./job.js";
import type { JobHandlers } from "./job-handlers.js";
import type { JobEngine } from "./job-engine.js";
import type { JobStore } from "./job-store.js";
import type { WorkerSettings } from "./job-engine.js";

export interface JobsOptions {
  /** Where jobs wait: the database of the application unless set. */
  readonly store?: JobStore | JobEngine;
  /** Whether a process that serves requests also runs jobs; true unless set. */
  readonly inWebProcess?: boolean;
  /** The most jobs at once in one process; 10 unless set. */
  readonly concurrency?: number;
  /** Jobs that one process claims ahead, which saves round trips where jobs are short; 0 unless set. */
  readonly prefetch?: number;
  /** The queues that this process works on; all unless set. */
  readonly queues?: readonly string[];
  /** The most jobs of a queue at once in one process, by the name of the queue; `concurrency` alone unless set. */
  readonly queueConcurrency?: Readonly<Record<string, number>>;
  /** Dead letters that the workers remove; none unless set. */
  readonly deadLetters?: PurgeOptions;
  /** The name in health checks and events; `Jobs` unless set. */
  readonly name?: string;
}

const NAMES: OptionNames<JobsOptions> = {
  store: true,
  inWebProcess: true,
  concurrency: true,
  prefetch: true,
  queues: true,
  queueConcurrency: true,
  deadLetters: true,
  name: true,
};

/** The checked options that the parts of `Jobs` use. */
export interface JobsSettings extends WorkerSettings {
  readonly deadLetters: PurgeOptions | undefined;
}

/** What the command sees of `Jobs`. */
export interface OperatedJobs {
  readonly store: JobStore | JobEngine;
  readonly handlers: JobHandlers;
  readonly settings: JobsSettings;
  /** Whether this process has a job whose outcome the store does not know yet. */
  readonly isBusy: boolean;
  /** The number of jobs that this process has moved to the dead letters. */
  readonly dead: number;
}

/** @throws FrameworkError `E_OPTION`, `E_JOB_OPTION`, `E_JOB_NAME` */
export function readSettings(options: JobsOptions): JobsSettings {
  checkOptionNames(options, NAMES, "new Jobs");
  const { concurrency = 10, prefetch = 0, queues, queueConcurrency = {}, deadLetters } = options;
  return {
    concurrency: checkJobOption("concurrency", concurrency, 1, 10_000),
    prefetch: checkJobOption("prefetch", prefetch, 0, 10_000),
    queues: queues?.map(checkQueue),
    queueLimits: checkQueueLimits(queueConcurrency),
    deadLetters: deadLetters && checkPurge(deadLetters),
  };
}
