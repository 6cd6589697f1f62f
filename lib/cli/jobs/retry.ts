/** `stagecraft jobs retry`: runs dead letters again, with all their attempts. A call takes at most 1000 of them. */
import { checkList } from "../../jobs/admin-options.js";
import type { Jobs } from "../../jobs/jobs.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { describeMissing } from "./one-job.js";
import { toUsage } from "./values.js";
import { withJobs, type ChosenJobs } from "./with-jobs.js";

const MAX_RETRIED = 1000;

interface Dead {
  readonly queue: string | undefined;
  readonly name: string | undefined;
}

interface RetryValues extends ChosenJobs, Dead {
  readonly id: string | undefined;
  readonly dead: true | undefined;
}

interface Retried {
  readonly retried: number;
  /** More dead letters may be left. */
  readonly isMore: boolean;
}

export async function retry(values: RetryValues, context: CommandContext): Promise<void> {
  const { id, dead, queue, name } = values;
  if ((id === undefined) === (dead === undefined) || (id !== undefined && (queue ?? name) !== undefined))
    throw new UsageError("jobs retry takes the id of a dead letter, or --dead", {
      fix: "stagecraft jobs retry ID, or stagecraft jobs retry --dead --name mail.welcome",
    });
  if (queue !== undefined) toUsage(() => checkList({ queue }));
  const result = await withJobs(context, values, (jobs) =>
    id === undefined ? retryDead(jobs, { queue, name }) : retryOne(jobs, id),
  );
  context.stdout.write(`${context.isJson ? JSON.stringify(result) : formatRetried(result)}\n`);
}

async function retryOne(jobs: Jobs, id: string): Promise<Retried> {
  if (await jobs.retry(id)) return { retried: 1, isMore: false };
  const job = await jobs.show(id);
  if (job === undefined) throw describeMissing(id);
  const why = job.state === "running" ? "runs" : "waits, and will run";
  throw new CommandError(`the job ${JSON.stringify(id)} is no dead letter: it ${why}`);
}

async function retryDead(jobs: Jobs, { queue, name }: Dead): Promise<Retried> {
  let retried = 0;
  for (const each of await jobs.queues()) {
    if (each.dead === 0 || (queue !== undefined && each.queue !== queue)) continue;
    const limit = MAX_RETRIED - retried;
    if (limit === 0) return { retried, isMore: true };
    const found = await jobs.list({ queue: each.queue, state: "dead", limit, ...(name !== undefined && { name }) });
    // Another operator may have retried one meanwhile.
    for (const { id } of found) if (await jobs.retry(id)) retried += 1;
  }
  return { retried, isMore: retried >= MAX_RETRIED };
}

function formatRetried({ retried, isMore }: Retried): string {
  const jobs = retried === 1 ? "1 dead letter runs again" : `${retried} dead letters run again`;
  return isMore ? `${jobs}; more may be left: call it again` : jobs;
}
