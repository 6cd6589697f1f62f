/** `stagecraft jobs pause` and `jobs resume`: whether processes begin jobs of a queue. Jobs that run go on. */
import { checkActor } from "../../jobs/admin-options.js";
import type { PausedQueue } from "../../jobs/job-admin.js";
import { checkQueue } from "../../jobs/job.js";
import type { CommandContext } from "../command.js";
import { escapeControls } from "../text-table.js";
import { hostname } from "node:os";
import { formatTime, toUsage } from "./values.js";
import { withJobs, type ChosenJobs } from "./with-jobs.js";

interface QueueValues extends ChosenJobs {
  readonly queue: string;
}

/** A queue that is paused already keeps its pause. */
export async function pause(
  values: QueueValues & { readonly by: string | undefined },
  context: CommandContext,
): Promise<void> {
  const { queue } = values;
  const by = toUsage(() => {
    checkQueue(queue);
    return checkActor(values.by ?? findUser(context.env));
  });
  const { isNew, found } = await withJobs(context, values, async (jobs) => {
    const isPaused = await jobs.pause(queue, { by });
    return { isNew: isPaused, found: (await jobs.paused()).find((each) => each.queue === queue) };
  });
  const paused = found ?? { queue, by, since: Date.now() };
  const { stdout, isJson } = context;
  stdout.write(`${isJson ? JSON.stringify({ ...paused, isNew }) : formatPause(paused, isNew)}\n`);
}

export async function resume(values: QueueValues, context: CommandContext): Promise<void> {
  const { queue } = values;
  toUsage(() => checkQueue(queue));
  const isResumed = await withJobs(context, values, (jobs) => jobs.resume(queue));
  const text = isResumed ? `${queue} is worked again` : `${queue} was not paused`;
  context.stdout.write(`${context.isJson ? JSON.stringify({ queue, isResumed }) : text}\n`);
}

function findUser({ USER, USERNAME }: NodeJS.ProcessEnv): string | undefined {
  const user = USER ?? USERNAME ?? "";
  return user === "" ? undefined : `${user} on ${hostname()}`;
}

function formatPause({ queue, by, since }: PausedQueue, isNew: boolean): string {
  const who = `${escapeControls(by)} since ${formatTime(since)}`;
  return isNew
    ? `${queue} is paused; stagecraft jobs resume ${queue} ends it`
    : `${queue} was paused already, by ${who}`;
}
