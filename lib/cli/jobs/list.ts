/**
 * `stagecraft jobs list`: the queues, the one whose job has waited longest first, and their jobs, in the order in which they will run. It says
 * which queues are paused, and for which jobs no process works.
 */
import { checkList, type ListOptions } from "../../jobs/admin-options.js";
import type { JobState, ListedJob, PausedQueue, QueueSummary, WorkerSummary } from "../../jobs/job-admin.js";
import type { Jobs } from "../../jobs/jobs.js";
import { MAX_COUNTED } from "../../jobs/job-store.js";
import type { CommandContext } from "../command.js";
import { formatTable } from "../text-table.js";
import { formatAge, formatTime, parseCount, toUsage } from "./values.js";
import { withJobs, type ChosenJobs } from "./with-jobs.js";

interface ListValues extends ChosenJobs {
  readonly queue: string | undefined;
  readonly state: string | undefined;
  readonly name: string | undefined;
  readonly limit: string | undefined;
}

/** A queue, or one that is paused and has no jobs. */
interface ShownQueue extends QueueSummary {
  readonly paused: Omit<PausedQueue, "queue"> | undefined;
  /** Absent: the store does not know. */
  readonly hasWorker: boolean | undefined;
}

interface ShownList {
  readonly now: number;
  readonly queues: readonly ShownQueue[];
  readonly jobs: readonly ListedJob[];
  /** Waiting jobs whose name no living process has a handler for. */
  readonly unhandled: readonly Pick<ListedJob, "name" | "queue">[];
}

const DEFAULT_LIMIT = 50;
const MAX_REASON_CHARACTERS = 80;

export async function list(values: ListValues, context: CommandContext): Promise<void> {
  const options = readOptions(values);
  const shown = await withJobs(context, values, (jobs) => readList(jobs, options));
  const { stdout, isJson } = context;
  stdout.write(isJson ? `${JSON.stringify(shown)}\n` : formatList(shown, options.limit));
}

type Wanted = Omit<ListOptions, "queue"> & { readonly queue: string | undefined; readonly limit: number };

function readOptions({ queue, state, name, limit }: ListValues): Wanted {
  const options = {
    // The check below refuses any other text.
    ...(state !== undefined && { state: state as JobState }),
    ...(name !== undefined && { name }),
    limit: limit === undefined ? DEFAULT_LIMIT : parseCount("limit", limit),
  };
  toUsage(() => checkList({ queue: queue ?? "default", ...options }));
  return { queue, ...options };
}

async function readList(jobs: Jobs, { queue, limit, ...others }: Wanted): Promise<ShownList> {
  const { store } = jobs.operated;
  const [now, all, paused, workers] = [
    await store.now(),
    await jobs.queues(),
    await jobs.paused(),
    await store.admin.workers(),
  ];
  const queues = joinPauses(all, paused)
    .filter((each) => queue === undefined || each.queue === queue)
    .map((each) => ({ ...each, hasWorker: workers?.some((worker) => isWorkedBy(each.queue, worker)) }));
  const listed: ListedJob[] = [];
  for (const each of queues.filter(hasJobs)) {
    if (listed.length >= limit) break;
    listed.push(...(await jobs.list({ ...others, queue: each.queue, limit: limit - listed.length })));
  }
  return { now, queues, jobs: listed, unhandled: findUnhandled(listed, workers) };
}

function joinPauses(all: readonly QueueSummary[], paused: readonly PausedQueue[]) {
  const none = { waiting: 0, running: 0, dead: 0, oldestDueAt: undefined };
  const known = new Set(all.map(({ queue }) => queue));
  const others = paused.filter(({ queue }) => !known.has(queue)).map(({ queue }) => ({ queue, ...none }));
  return [...all, ...others].map((summary) => {
    const pause = paused.find(({ queue }) => queue === summary.queue);
    return { ...summary, paused: pause && { since: pause.since, by: pause.by } };
  });
}

function hasJobs({ waiting, running, dead }: QueueSummary): boolean {
  return waiting + running + dead > 0;
}

function isWorkedBy(queue: string, { queues }: WorkerSummary): boolean {
  return queues?.includes(queue) ?? true;
}

/** For a queue without any worker the note of the queue says it. */
function findUnhandled(jobs: readonly ListedJob[], workers: readonly WorkerSummary[] | undefined) {
  const found = new Map<string, Pick<ListedJob, "name" | "queue">>();
  for (const { name, queue, state } of jobs) {
    const there = workers?.filter((worker) => isWorkedBy(queue, worker)) ?? [];
    if (state !== "waiting" || there.length === 0) continue;
    if (there.every(({ names }) => names?.includes(name) === false)) found.set(`${name} ${queue}`, { name, queue });
  }
  return [...found.values()];
}

function formatList({ now, queues, jobs, unhandled }: ShownList, limit: number): string {
  if (queues.length === 0) return "no jobs\n";
  const counts = queues.map((each) => [
    each.queue,
    ...[each.waiting, each.running, each.dead].map(formatCount),
    each.oldestDueAt === undefined ? "" : formatDue(each.oldestDueAt, now),
    listNotes(each).join(", "),
  ]);
  const rows = jobs.map((job) => [
    job.id,
    job.name,
    job.queue,
    job.state,
    `${job.attempt} of ${job.maxAttempts}`,
    formatWhen(job, now),
    (job.reason ?? "").slice(0, MAX_REASON_CHARACTERS),
  ]);
  return [
    formatTable(["QUEUE", "WAITING", "RUNNING", "DEAD", "OLDEST", "NOTE"], counts),
    ...(rows.length === 0
      ? []
      : ["\n", formatTable(["ID", "NAME", "QUEUE", "STATE", "ATTEMPT", "WHEN", "REASON"], rows)]),
    ...(rows.length === limit ? [`the first ${limit} jobs: --limit shows more\n`] : []),
    ...unhandled.map(({ name, queue }) => `no process handles ${name}, which waits in ${queue}\n`),
  ].join("");
}

function listNotes({ paused, hasWorker, waiting }: ShownQueue): readonly string[] {
  return [
    ...(paused === undefined ? [] : [`paused by ${paused.by} since ${formatTime(paused.since)}`]),
    ...(hasWorker === false && waiting > 0 ? ["no process works it"] : []),
  ];
}

function formatCount(count: number): string {
  return count >= MAX_COUNTED ? "10 000+" : String(count);
}

function formatDue(dueAt: number, now: number): string {
  return dueAt > now ? `due in ${formatAge(dueAt - now)}` : `due for ${formatAge(now - dueAt)}`;
}

function formatWhen({ dueAt, diedAt }: ListedJob, now: number): string {
  if (diedAt !== undefined) return `died ${formatAge(now - diedAt)} ago`;
  return dueAt === undefined ? "" : formatDue(dueAt, now);
}
