/** The options of `runWorkers()`, their defaults and their checks. */
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { MAX_TIMER_MS } from "../../runtime/clock.js";
import { MAX_WORKERS } from "./asked-workers.js";
import { findProcessors, type WorkerCount } from "./processors.js";

const WORK_CHOICES = ["one", "each", "none"] as const;
/** The workers that do the work: one at a time, each of them, or none, because another process does it. */
export type WorkChoice = (typeof WORK_CHOICES)[number];

export interface WorkersOptions {
  /** The number of processes that serve; `"auto"` for one per processor that this process may use. From 1 to 512. */
  readonly workers: "auto" | number;
  /**
   * The workers that run jobs, schedules and other work of `beginWork`: `"one"` at a time unless set; `"each"` of them; or `"none"`, where
   * another process calls `application.work()`.
   */
  readonly work?: WorkChoice;
  /** A worker whose event loop does not respond for this time is replaced, then killed. Milliseconds from 2 000; 30 000 unless given. */
  readonly unresponsiveAfterMs?: number;
  /** A worker that is not ready after this time is killed. Milliseconds; 120 000 unless given. */
  readonly startTimeoutMs?: number;
  /**
   * The parent stops all and ends with `E_WORKERS_RESTARTS` when more workers than this end within a minute without being asked. Five times
   * the number of workers unless given, and at least 10.
   */
  readonly maxRestartsPerMinute?: number;
  /**
   * A connection is closed after this number of responses, so that the connections of a proxy, which stay open, spread over the workers again.
   * No limit unless given.
   */
  readonly responsesPerConnection?: number;
}

/** All options; the number of workers is chosen. */
export interface CheckedWorkersOptions extends Required<Omit<WorkersOptions, "workers">> {
  readonly count: number;
  readonly source: string;
}

/** The worker gets a ping each second. */
const MIN_UNRESPONSIVE_MS = 2000;

/** @throws FrameworkError `E_WORKERS_COUNT`, `E_WORKERS_OPTION` */
export function checkWorkersOptions(options: WorkersOptions): CheckedWorkersOptions {
  const { count, source } = chooseCount(options.workers);
  return {
    count,
    source,
    work: checkWork(options.work ?? "one"),
    unresponsiveAfterMs: checkOption(options, "unresponsiveAfterMs", [MIN_UNRESPONSIVE_MS, MAX_TIMER_MS]) ?? 30_000,
    startTimeoutMs: checkOption(options, "startTimeoutMs", [1, MAX_TIMER_MS]) ?? 120_000,
    maxRestartsPerMinute: checkOption(options, "maxRestartsPerMinute", [0, Infinity]) ?? Math.max(10, 5 * count),
    responsesPerConnection: checkOption(options, "responsesPerConnection", [1, Infinity]) ?? Infinity,
  };
}

function chooseCount(workers: unknown): WorkerCount {
  if (workers === "auto") {
    const { count, source } = findProcessors();
    return { count: Math.min(count, MAX_WORKERS), source };
  }
  if (isBetween(workers, [1, MAX_WORKERS]) && Number.isInteger(workers))
    return { count: workers, source: "a fixed number" };
  // As from the environment: without the quotes it would read as a number that is allowed.
  const given = typeof workers === "string" ? JSON.stringify(workers) : valueText(workers);
  const what = `runWorkers() cannot have ${given} workers`;
  throw createSetupError("E_WORKERS_COUNT", `${what}; fix: give "auto" or a whole number from 1 to ${MAX_WORKERS}`);
}

type Limits = readonly [min: number, max: number];

function checkOption(
  options: WorkersOptions,
  name: Exclude<keyof WorkersOptions, "workers" | "work">,
  limits: Limits,
): number | undefined {
  const value: unknown = options[name];
  if (value === undefined || isBetween(value, limits)) return value;
  const [min, max] = limits;
  const fix = max === Infinity ? `give a number from ${min}` : `give milliseconds from ${min} to ${max}`;
  throw createSetupError("E_WORKERS_OPTION", `${name} of runWorkers() cannot be ${valueText(value)}; fix: ${fix}`);
}

function checkWork(work: WorkChoice): WorkChoice {
  if (WORK_CHOICES.includes(work)) return work;
  const what = `work of runWorkers() cannot be ${valueText(work)}`;
  throw createSetupError("E_WORKERS_OPTION", `${what}; fix: give one of ${WORK_CHOICES.join(", ")}`);
}

function isBetween(value: unknown, [min, max]: Limits): value is number {
  return typeof value === "number" && value >= min && value <= max;
}
