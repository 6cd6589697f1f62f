/**
 * A job as a value: its name, the schema of its payload and its defaults, in one constant. `@Handles` ties it to a method, and
 * `jobs.dispatch` sends one. The payload is JSON, so a `Date` arrives as a text unless the schema converts it to a `Date`.
 *
 * Not for work whose result the caller waits for: call a method.
 *
 * @example
 * export const sendWelcome = job("mail.welcome", z.object({ to: z.email() }));
 * await jobs.dispatch(sendWelcome, { to: "ada@example.com" });
 */
import { markKind } from "../errors/copy-mark.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { checkWholeNumber } from "../errors/whole-number.js";
import { valueText } from "../errors/value-text.js";
import type { InferInput, InferOutput, Schema } from "../runtime/standard-schema.js";
import { MAX_TIMER_MS } from "../runtime/clock.js";
import { type BackoffFunction, checkBackoff, type JobBackoff } from "./retry-delay.js";

/** How many jobs of one key run at once, in all processes together. */
export interface JobConcurrency<Input = never> {
  /**
   * Returns the key of a payload, 1 to 200 characters. The function is called at the dispatch. Jobs of one name with one key count
   * together.
   */
  readonly key: (payload: Input) => string;
  /** The maximum number of them that run at once, from 1 to 100. Jobs that are claimed ahead count as well. */
  readonly limit: number;
}

export interface JobOptions<Input = never> {
  /** The queue of its jobs unless the dispatch names another; `default` unless set. */
  readonly queue?: string;
  /** A whole number from 0 to 100; a smaller one runs first; 0 unless set. */
  readonly priority?: number;
  /** How often a job is tried before it goes to the dead letters, from 1 to 1000; 20 unless set, which is about nine hours. */
  readonly attempts?: number;
  /** The milliseconds after which the signal of the handler aborts and the attempt has failed; 60 000 unless set. */
  readonly timeoutMs?: number;
  /** The waits before further attempts, as numbers or as a function; 1 s, doubled after each attempt, at most 1 hour, unless set. */
  readonly backoff?: JobBackoff | BackoffFunction;
  /** The most jobs of one key at once, in all processes; no limit unless set. `BullJobs` refuses it. */
  readonly concurrency?: JobConcurrency<Input>;
}

const NAMES: OptionNames<JobOptions> = {
  queue: true,
  priority: true,
  attempts: true,
  timeoutMs: true,
  backoff: true,
  concurrency: true,
};
const CONCURRENCY_NAMES: OptionNames<JobConcurrency> = { key: true, limit: true };

export const DEFAULT_QUEUE = "default";
export const MAX_PRIORITY = 100;
const MAX_ATTEMPTS = 1000;
export const MAX_CONCURRENCY = 100;
const DEFAULT_ATTEMPTS = 20;
const DEFAULT_TIMEOUT_MS = 60_000;
/** Safe as a key in Redis, as a label of a metric and in a log line. */
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

export class Job<Input = unknown, Output = Input> {
  /** Only for the compiler: the property does not exist at run time. */
  declare protected readonly types: (input: Input) => Output;

  static {
    markKind(this.prototype, "job");
  }

  readonly queue: string;
  readonly priority: number;
  readonly attempts: number;
  readonly timeoutMs: number;
  /** @internal */
  readonly backoff: BackoffFunction;
  /** @internal */
  readonly concurrency: JobConcurrency | undefined;

  /** @internal Use `job` or `schedule`. */
  constructor(
    readonly name: string,
    readonly schema: Schema | undefined,
    options: JobOptions = {},
  ) {
    checkOptionNames(options, NAMES, `job("${valueText(name)}")`);
    checkName(name, "the name of a job");
    this.queue = checkQueue(options.queue ?? DEFAULT_QUEUE);
    this.priority = checkPriority(options.priority ?? 0);
    this.attempts = checkJobOption("attempts", options.attempts ?? DEFAULT_ATTEMPTS, 1, MAX_ATTEMPTS);
    this.timeoutMs = checkJobOption("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1, MAX_TIMER_MS);
    this.backoff = checkBackoff(options.backoff);
    this.concurrency = checkConcurrency(options.concurrency);
  }
}

/** A job with a payload of any type. */
export type AnyJob = Job<never, unknown>;

/**
 * A job whose payload the schema checks, at the dispatch and again before the handler.
 *
 * @throws FrameworkError `E_JOB_NAME`, `E_JOB_OPTION`
 */
export function job<S extends Schema>(
  name: string,
  schema: S,
  options?: JobOptions<InferInput<S>>,
): Job<InferInput<S>, InferOutput<S>>;
/** A job whose payload is not checked. Its type is `T`, which the program declares. */
export function job<T = undefined>(name: string, schema?: undefined, options?: JobOptions<T>): Job<T>;
export function job(name: string, schema?: Schema, options?: JobOptions): Job {
  return new Job(name, schema, options);
}

function checkConcurrency(concurrency: JobConcurrency | undefined): JobConcurrency | undefined {
  if (concurrency === undefined) return undefined;
  checkOptionNames(concurrency, CONCURRENCY_NAMES, "concurrency");
  const { key, limit } = concurrency;
  if (typeof key !== "function")
    throw createSetupError("E_JOB_OPTION", `concurrency.key is a function of the payload, not ${valueText(key)}`);
  return { key, limit: checkJobOption("concurrency.limit", limit, 1, MAX_CONCURRENCY) };
}

/** @throws FrameworkError `E_JOB_NAME` */
export function checkQueue(queue: string): string {
  return checkName(queue, "the name of a queue");
}

/** @throws FrameworkError `E_JOB_OPTION` */
export function checkPriority(priority: number): number {
  return checkJobOption("priority", priority, 0, MAX_PRIORITY);
}

/** @throws FrameworkError `E_JOB_OPTION` */
export function checkJobOption(name: string, value: number, min: number, max: number): number {
  return checkWholeNumber("E_JOB_OPTION", name, value, [min, max]);
}

function checkName(name: string, what: string): string {
  if (typeof name === "string" && NAME.test(name)) return name;
  throw createSetupError(
    "E_JOB_NAME",
    `${valueText(name)} cannot be ${what}: use 1 to 100 letters, digits, "-", "_" and ".", a letter or digit first`,
  );
}
