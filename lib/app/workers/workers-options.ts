/** The options of `runWorkers()`, their defaults and their checks. */
import { availableParallelism } from "node:os";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";

export interface WorkersOptions {
  /** The number of processes that serve; `"auto"` for one per processor that this process may use. */
  readonly workers: "auto" | number;
  /** A worker whose event loop does not respond for this time is replaced, then killed. Milliseconds; 30 000 unless given. */
  readonly unresponsiveAfterMs?: number;
  /** A worker that is not ready after this time is killed. Milliseconds; 120 000 unless given. */
  readonly startTimeoutMs?: number;
}

/** The number of workers, and where it comes from. */
export interface WorkerCount {
  readonly count: number;
  readonly source: string;
}

/** Far above the processors of a machine: a larger number is a mistake. */
const MAX_WORKERS = 512;

/** @throws FrameworkError `E_WORKERS_COUNT` */
export function chooseWorkerCount({ workers }: WorkersOptions): WorkerCount {
  if (workers === "auto")
    return { count: Math.min(MAX_WORKERS, availableParallelism()), source: "processors of the machine" };
  if (Number.isInteger(workers) && workers >= 1 && workers <= MAX_WORKERS)
    return { count: workers, source: "the program" };
  const what = `runWorkers() cannot have ${valueText(workers)} workers`;
  throw createSetupError("E_WORKERS_COUNT", `${what}; fix: give "auto" or a whole number from 1 to ${MAX_WORKERS}`);
}
