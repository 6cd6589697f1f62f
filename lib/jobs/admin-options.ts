/** The options of the methods by which operators read and limit queues, and the checks of these options. */
import { hostname } from "node:os";
import { FrameworkError } from "../errors/framework-error.js";
import { valueText } from "../errors/value-text.js";
import type { JobList, JobState } from "./job-admin.js";
import { checkQueue, checkJobOption } from "./job.js";

export interface ListOptions {
  readonly queue: string;
  /** Only the jobs in this state; all unless set. */
  readonly state?: JobState;
  /** Only the jobs of this name. The first 100 000 jobs of the queue are searched, in BullMQ 10 000. */
  readonly name?: string;
  /** The most jobs, from 1 to 1000; 100 unless set. */
  readonly limit?: number;
}

const STATES: readonly JobState[] = ["running", "waiting", "dead"];
const MAX_LISTED = 1000;
const MAX_ACTOR_CHARACTERS = 200;

/** @throws FrameworkError `E_JOB_OPTION`, `E_JOB_NAME` */
export function checkList(options: ListOptions): JobList {
  const { queue, state, name, limit = 100 } = options;
  if (state !== undefined && !STATES.includes(state))
    throw invalid(`state is "waiting", "running" or "dead", not ${valueText(state)}`);
  const states = state === undefined ? STATES : [state];
  return { queue: checkQueue(queue), states, name, limit: checkLimit(limit) };
}

/** @throws FrameworkError `E_JOB_OPTION` */
export function checkLimit(limit: number): number {
  return checkJobOption("limit", limit, 1, MAX_LISTED);
}

/** The name of the operator who pauses a queue; the process and its machine unless given. @throws FrameworkError `E_JOB_OPTION` */
export function checkActor(by = `process ${process.pid} on ${hostname()}`): string {
  if (typeof by === "string" && by !== "" && by.length <= MAX_ACTOR_CHARACTERS && !/\p{Cc}/u.test(by)) return by;
  throw invalid(`by is a text of 1 to ${MAX_ACTOR_CHARACTERS} characters without control characters`);
}

/** The maximum number of jobs of each queue at once, by the name of the queue. @throws FrameworkError `E_JOB_OPTION`, `E_JOB_NAME` */
export function checkQueueLimits(limits: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(limits).map(([queue, limit]) => [
      checkQueue(queue),
      checkJobOption(`queueConcurrency.${queue}`, limit, 1, 10_000),
    ]),
  );
}

function invalid(message: string): FrameworkError {
  return new FrameworkError(message, { code: "E_JOB_OPTION" });
}
