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
import { bareDecorator } from "../../errors/bare-decorator.js";
import { Handles, type JobDecorator } from "../handles.js";
import { Schedule, type ScheduledTick } from "./schedule.js";

/** @throws FrameworkError `E_DECORATOR_CALL` without parentheses, `E_JOB_STATIC` above a static method */
export function Every(schedule: Schedule): JobDecorator<ScheduledTick> {
  if (!(schedule instanceof Schedule)) throw bareDecorator("Every(schedule)", schedule);
  return Handles(schedule);
}
