/**
 * A schedule: a name, the times in the form of cron, and a time zone. `@Every` ties it to a method. Each tick is a job of the schedule's
 * name, so it is retried, has an attempt count and can end in the dead letters. If several processes run, one of them dispatches the tick.
 *
 * After a time without a process, the last missed tick is dispatched. Two ticks may overlap, unless `concurrency` says otherwise.
 *
 * Not for an interval below one minute.
 *
 * @example
 * export const sweep = schedule("links.sweep", "0 3 * * *", { timeZone: "Europe/Berlin" });
 */
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { CronTimes } from "./cron-times.js";
import { Job, type JobOptions } from "../job.js";

export interface ScheduleOptions extends JobOptions<ScheduledTick> {
  /** A name of the IANA data base; `UTC` unless set. */
  readonly timeZone?: string;
  /**
   * How ticks are handled that no process dispatched within a minute: `once` runs the last of them, `skip` runs none; `once` unless set.
   */
  readonly missed?: "once" | "skip";
}

const NAMES: OptionNames<ScheduleOptions> = {
  timeZone: true,
  missed: true,
  queue: true,
  priority: true,
  attempts: true,
  timeoutMs: true,
  backoff: true,
  concurrency: true,
};

/** The payload of a tick. */
export interface ScheduledTick {
  /** The time that the schedule names, in the form of ISO 8601. */
  readonly due: string;
}

/** A tick this late was missed. */
const LATE_MS = 60_000;

export class Schedule extends Job<ScheduledTick> {
  readonly missed: "once" | "skip";
  readonly timeZone: string;
  private readonly times: CronTimes;

  /** @internal Use `schedule`. */
  constructor(
    name: string,
    readonly cron: string,
    { timeZone = "UTC", missed = "once", ...options }: ScheduleOptions = {},
  ) {
    super(name, undefined, options);
    if (missed !== "once" && missed !== "skip")
      throw createSetupError(
        "E_SCHEDULE_MISSED",
        `missed of the schedule ${name} is "once" or "skip", not ${valueText(missed)}`,
      );
    this.missed = missed;
    this.timeZone = timeZone;
    this.times = new CronTimes(cron, timeZone);
  }

  /** The first tick after `ms`, in milliseconds since the Unix epoch. */
  next(ms: number): number {
    return this.times.next(ms);
  }

  /** The last tick from `after`, exclusive, to `now`, inclusive. */
  latest(after: number, now: number): number | undefined {
    return this.times.latest(after, now);
  }

  /** Whether the job of a tick is dispatched. */
  runs(due: number, now: number): boolean {
    return this.missed === "once" || now - due < LATE_MS;
  }
}

/**
 * @param cron five fields: minute, hour, day of the month, month, day of the week
 * @throws FrameworkError `E_JOB_NAME`, `E_JOB_OPTION`, `E_SCHEDULE_CRON`, `E_SCHEDULE_ZONE`, `E_SCHEDULE_MISSED`
 */
export function schedule(name: string, cron: string, options?: ScheduleOptions): Schedule {
  checkOptionNames(options, NAMES, `schedule("${valueText(name)}")`);
  return new Schedule(name, cron, options);
}
