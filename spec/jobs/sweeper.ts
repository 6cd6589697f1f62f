/** A provider with a schedule for each minute, which keeps the ticks that it gets: date, hour and minute. */
import { Every, schedule, type ScheduledTick } from "@stagecraft/framework/jobs";

export class Sweeper {
  readonly ticks: string[] = [];
  @Every(schedule("links.sweep", "* * * * *"))
  sweep({ due }: ScheduledTick): void {
    this.ticks.push(due.slice(0, 16));
  }
}
