/**
 * `stagecraft jobs work`: the application as a worker, without HTTP, until a signal. `stagecraft jobs drain`: the same, until no job is due.
 * Handlers may use everything that the application provides, so all its subsystems start.
 */
import { installLogging } from "../../observe/logging/install.js";
import { checkQueueLimits } from "../../jobs/admin-options.js";
import { checkQueue } from "../../jobs/job.js";
import type { Jobs } from "../../jobs/jobs.js";
import { currentSubscriber } from "../../tracing/flow.js";
import { loadBuilder } from "../application/load-application.js";
import { CommandError, type CommandContext, type ExitCode } from "../command.js";
import { becomeProgram } from "../start.js";
import { parseCount, toUsage } from "./values.js";
import { listJobs, refuseMemory } from "./with-jobs.js";

interface WorkValues {
  readonly queue: string | undefined;
  readonly concurrency: string | undefined;
}

type Settings = Partial<Pick<Jobs["operated"]["settings"], "queues" | "concurrency">>;

/** The time between two checks for jobs that are due. */
const DRAIN_POLL_MS = 100;

export async function work(values: WorkValues, context: CommandContext): Promise<ExitCode> {
  const { code } = await runWorker(values, context, () => new Promise(() => {}));
  return code;
}

/** Jobs that wait for a retry, or for a process that handles them, are not due. */
export async function drain(values: WorkValues, context: CommandContext): Promise<ExitCode> {
  const { code, jobs } = await runWorker(values, context, untilDrained);
  const dead = jobs.reduce((sum, { operated }) => sum + operated.dead, 0);
  if (dead > 0)
    throw new CommandError(`${dead} ${dead === 1 ? "job is a dead letter" : "jobs are dead letters"}`, {
      fix: "stagecraft jobs list --state dead shows why; stagecraft jobs retry runs one again",
    });
  return code;
}

async function runWorker(
  values: WorkValues,
  context: CommandContext,
  until: (jobs: readonly Jobs[]) => Promise<void>,
): Promise<{ readonly code: ExitCode; readonly jobs: readonly Jobs[] }> {
  const settings = readSettings(values);
  const { builder, file } = await loadBuilder(context);
  // The module of an application installs no log, its main.ts does.
  if (currentSubscriber() === undefined) installLogging("info");
  const application = builder.build();
  const jobs = listJobs(application, file);
  for (const each of jobs) {
    refuseMemory(each);
    each.changeSettings(settings);
  }
  becomeProgram();
  let failure: unknown;
  await application.workUntil(async () => {
    context.stderr.write(`${describeWork(jobs)}\n`);
    await until(jobs).catch((error: unknown) => (failure = error));
  });
  if (failure !== undefined) throw failure;
  return { code: (process.exitCode ?? 0) === 0 ? 0 : 1, jobs };
}

/** @throws UsageError */
function readSettings({ queue, concurrency }: WorkValues): Settings {
  return toUsage(() => {
    const queues = queue?.split(",").map(checkQueue);
    const count = concurrency === undefined ? undefined : parseCount("concurrency", concurrency);
    // Has the bounds of a concurrency.
    if (count !== undefined) checkQueueLimits({ default: count });
    return { ...(queues !== undefined && { queues }), ...(count !== undefined && { concurrency: count }) };
  });
}

function describeWork(jobs: readonly Jobs[]): string {
  return jobs
    .map(({ operated: { settings } }) => {
      const { queues, concurrency } = settings;
      const where = queues === undefined ? "all queues" : `the queues ${queues.join(", ")}`;
      return `works ${where}, at most ${concurrency} jobs at once; SIGTERM or Ctrl-C ends it`;
    })
    .join("\n");
}

/** Twice in a row, because a worker of BullMQ may have taken a job a moment ago. */
async function untilDrained(jobs: readonly Jobs[]): Promise<void> {
  for (let idle = 0; idle < 2;) {
    idle = (await hasWork(jobs)) ? 0 : idle + 1;
    if (idle < 2) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}

async function hasWork(all: readonly Jobs[]): Promise<boolean> {
  for (const jobs of all) {
    const { store, settings } = jobs.operated;
    const now = await store.now();
    const paused = new Set((await jobs.paused()).map(({ queue }) => queue));
    const due = (await jobs.queues()).filter(
      ({ queue, oldestDueAt = Infinity }) =>
        oldestDueAt <= now && !paused.has(queue) && (settings.queues?.includes(queue) ?? true),
    );
    if (due.length > 0 || jobs.operated.isBusy) return true;
  }
  return false;
}
