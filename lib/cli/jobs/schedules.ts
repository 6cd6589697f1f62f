/** `stagecraft schedule list` and `schedule run`: the schedules that a method of the application handles. */
import type { Jobs } from "../../jobs/jobs.js";
import type { Schedule } from "../../jobs/schedules/schedule.js";
import { CommandError, type CommandContext } from "../command.js";
import { formatTable } from "../text-table.js";
import { formatTime, suggest } from "./values.js";
import { withJobs, type ChosenJobs } from "./with-jobs.js";

interface ListedSchedule {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly queue: string;
  /** Milliseconds since the Unix epoch. Infinite, and `null` in JSON: its times have passed. */
  readonly nextAt: number;
  /** The last tick, if the store knows one. */
  readonly lastAt: number | undefined;
}

export async function listSchedules(values: ChosenJobs, context: CommandContext): Promise<void> {
  const rows = await withJobs(context, values, readSchedules);
  const { stdout, isJson } = context;
  stdout.write(isJson ? `${JSON.stringify(rows)}\n` : formatSchedules(rows));
}

/** The job is added as a tick would add it, and no tick is recorded. */
export async function runSchedule(
  values: ChosenJobs & { readonly name: string },
  context: CommandContext,
): Promise<void> {
  const { name } = values;
  const { id } = await withJobs(context, values, async (jobs) => {
    const schedules = jobs.operated.handlers.schedules();
    const schedule = schedules.find((each) => each.name === name);
    if (schedule === undefined) throw describeUnknown(schedules, name);
    return jobs.dispatch(schedule, { due: new Date(await jobs.operated.store.now()).toISOString() });
  });
  const text = `${name} waits as the job ${id}, for a process that works`;
  context.stdout.write(`${context.isJson ? JSON.stringify({ name, id }) : text}\n`);
}

async function readSchedules(jobs: Jobs): Promise<readonly ListedSchedule[]> {
  const { store, handlers } = jobs.operated;
  const now = await store.now();
  const rows: ListedSchedule[] = [];
  for (const schedule of handlers.schedules()) {
    const { name, cron, timeZone, queue } = schedule;
    const lastAt = findTick(schedule, await store.lastTick(name));
    rows.push({ name, cron, timeZone, queue, nextAt: schedule.next(now), lastAt });
  }
  return rows.toSorted((one, other) => one.nextAt - other.nextAt);
}

/** A store also records the time at which a process first knew the schedule, which is no tick. */
function findTick(schedule: Schedule, recorded: number | undefined): number | undefined {
  return recorded === undefined ? undefined : schedule.latest(recorded - 1, recorded);
}

function formatSchedules(rows: readonly ListedSchedule[]): string {
  if (rows.length === 0) return "no method has @Every\n";
  return formatTable(
    ["SCHEDULE", "CRON", "TIME ZONE", "QUEUE", "NEXT", "LAST"],
    rows.map((row) => [row.name, row.cron, row.timeZone, row.queue, formatAt(row.nextAt), formatAt(row.lastAt)]),
  );
}

function formatAt(ms: number | undefined): string {
  return ms === undefined || ms === Infinity ? "" : formatTime(ms);
}

function describeUnknown(schedules: readonly Schedule[], name: string): CommandError {
  const names = schedules.map((schedule) => schedule.name);
  const nearest = suggest(names, name);
  return new CommandError(`no schedule has the name ${JSON.stringify(name)}`, {
    fix: nearest === undefined ? "write one: @Every(schedule(…)) above a method" : `stagecraft schedule run ${nearest}`,
  });
}
