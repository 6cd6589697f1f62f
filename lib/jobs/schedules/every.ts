/**
 * `@Every(schedule)` above a method: the method runs at each tick of the schedule, in one of the processes. Its parameters are the tick and
 * the `JobContext`, and it may omit them. `@Every` is `@Handles` for the job that a tick dispatches.
 *
 * @example
 * const sweep = schedule("links.sweep", "0 3 * * *", { timeZone: "Europe/Berlin" });
 *
 * @Injectable()
 * class Sweeper {
 *   constructor(private readonly links: Links) {}
 *
 *   @Every(sweep)
 *   sweep({ due }: ScheduledTick) { return this.links.removeOlderThan(due); }
 * }
 */
import { requireParentheses } from "../../errors/bare-decorator.js";
import { refuseForeignCopy } from "../../errors/copy.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { Handles, type JobDecorator } from "../handles.js";
import { Schedule, type ScheduledTick } from "./schedule.js";

/**
 * @throws FrameworkError `E_DECORATOR_CALL` without parentheses or without a schedule, `E_DECORATOR_KIND` above anything but a public
 *   instance method
 */
export function Every(schedule: Schedule, ...none: readonly never[]): JobDecorator<ScheduledTick> {
  requireParentheses("Every(schedule)", ["method"], schedule, none);
  refuseForeignCopy(schedule);
  if (!(schedule instanceof Schedule))
    throw createSetupError("E_DECORATOR_CALL", `@Every needs the value of schedule(…), not ${valueText(schedule)}`);
  return Handles(schedule);
}
