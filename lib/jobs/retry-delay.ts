/**
 * The wait before the next attempt of a job: 1 s after the first one, twice as long after each further one, at most 1 hour. The option
 * `backoff` of a job gives other numbers, or a function. `jitter` spreads jobs that have failed at the same moment.
 */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::jobs");

export interface JobBackoff {
  /** The milliseconds after the first attempt; 1000 unless set. */
  readonly firstMs?: number;
  /** The wait is this many times as long after each further attempt; from 1 to 100, 2 unless set. */
  readonly factor?: number;
  /** The longest wait in milliseconds; 3 600 000 unless set. */
  readonly maxMs?: number;
  /** The random part of the wait, from 0 to 1: with 0.5 the job waits between half of the time and the whole. 0 unless set. */
  readonly jitter?: number;
}

/**
 * The milliseconds before the next attempt, computed from the attempt that failed, from 1, and its error. The result is rounded, and at
 * most 30 days. If the function throws, or returns a value that is not a number from 0, the default back-off applies.
 */
export type BackoffFunction = (attempt: number, error: unknown) => number;

const NAMES: OptionNames<JobBackoff> = { firstMs: true, factor: true, maxMs: true, jitter: true };
const MAX_WAIT_MS = 2_592_000_000;
const DEFAULTS: Required<JobBackoff> = { firstMs: 1000, factor: 2, maxMs: 3_600_000, jitter: 0 };

/** @throws FrameworkError `E_JOB_OPTION`, `E_OPTION` */
export function checkBackoff(backoff: JobBackoff | BackoffFunction | undefined): BackoffFunction {
  if (typeof backoff === "function") return backoff;
  checkOptionNames(backoff, NAMES, "backoff");
  const wanted = { ...DEFAULTS, ...backoff };
  checkNumber("backoff.firstMs", wanted.firstMs, 1, MAX_WAIT_MS);
  checkNumber("backoff.factor", wanted.factor, 1, 100);
  checkNumber("backoff.maxMs", wanted.maxMs, 1, MAX_WAIT_MS);
  checkNumber("backoff.jitter", wanted.jitter, 0, 1);
  return (attempt) => getExponentialDelay(wanted, attempt);
}

/** @param attempt the attempt that failed, from 1 */
export function getRetryDelay(backoff: BackoffFunction, attempt: number, error: unknown): number {
  try {
    const wait = backoff(attempt, error);
    if (wait >= 0) return Math.min(Math.round(wait), MAX_WAIT_MS);
    log.error("back-off is not a number from 0", { wait });
  } catch (cause) {
    log.error("back-off failed", { error: cause });
  }
  return getExponentialDelay(DEFAULTS, attempt);
}

function getExponentialDelay({ firstMs, factor, maxMs, jitter }: Required<JobBackoff>, attempt: number): number {
  const wait = Math.min(firstMs * factor ** (attempt - 1), maxMs);
  return wait * (1 - jitter * Math.random());
}

function checkNumber(name: string, value: number, min: number, max: number): void {
  if (typeof value === "number" && value >= min && value <= max) return;
  throw createSetupError("E_JOB_OPTION", `${name} is a number from ${min} to ${max}, not ${valueText(value)}`);
}
