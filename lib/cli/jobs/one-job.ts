/** `stagecraft jobs show` and `jobs cancel`: one job by its id. */
import type { Cancellation, ShownJob } from "../../jobs/job-admin.js";
import { CommandError, type CommandContext, type ExitCode } from "../command.js";
import { formatColumns } from "../text-table.js";
import { formatTime } from "./values.js";
import { withJobs, type ChosenJobs } from "./with-jobs.js";

interface OneJob extends ChosenJobs {
  readonly id: string;
}

/** The payload may contain data that no operator should read, so it is shown only with `--payload`. */
export async function show(
  values: OneJob & { readonly payload: true | undefined },
  context: CommandContext,
): Promise<void> {
  const { id, payload: withPayload } = values;
  const job = await withJobs(context, values, (jobs) => jobs.show(id));
  if (job === undefined) throw describeMissing(id);
  const { payload, ...others } = job;
  const dispatchedAt = readDispatchTime(job.id);
  const shown = { ...others, dispatchedAt, ...(withPayload === true && { payload }) };
  context.stdout.write(context.isJson ? `${JSON.stringify(shown)}\n` : formatJob(shown));
}

const OUTCOMES: Readonly<Record<Cancellation, string>> = {
  removed: "it waited, and will not run",
  asked: "it runs; its signal aborts within about 10 s",
  gone: "it has ended, or is a dead letter",
};

export async function cancel(values: OneJob, context: CommandContext): Promise<ExitCode> {
  const { id } = values;
  const outcome = await withJobs(context, values, (jobs) => jobs.cancel(id));
  const { stdout, isJson } = context;
  stdout.write(`${isJson ? JSON.stringify({ id, outcome }) : `${outcome}: ${OUTCOMES[outcome]}`}\n`);
  return outcome === "gone" ? 1 : 0;
}

export function describeMissing(id: string): CommandError {
  return new CommandError(`no job has the id ${JSON.stringify(id)}`, {
    fix: "a job that is completed leaves the store; stagecraft jobs list shows the others",
  });
}

type WrittenJob = Omit<ShownJob, "payload"> & {
  readonly payload?: string;
  readonly dispatchedAt: number | undefined;
};

function formatJob(job: WrittenJob): string {
  const { attempt, maxAttempts, dispatchedAt, dueAt, diedAt } = job;
  const times = { dispatched: dispatchedAt, due: dueAt, died: diedAt };
  return formatColumns([
    ["id", job.id],
    ["name", job.name],
    ["queue", job.queue],
    ["state", job.state],
    ["priority", String(job.priority)],
    ["attempts", `${attempt} of ${maxAttempts}`],
    ...Object.entries(times).flatMap(([name, ms]) => (ms === undefined ? [] : [[name, formatTime(ms)]])),
    ...(job.requestId === undefined ? [] : [["request", job.requestId]]),
    ...(job.reason === undefined ? [] : [["reason", job.reason]]),
    ["payload", job.payload ?? "hidden: --payload shows it"],
  ]);
}

/** A UUID of version 7 begins with its time (RFC 9562 section 5.7). */
function readDispatchTime(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/u.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : parseInt(high + low, 16);
}
