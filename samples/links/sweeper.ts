import { Injectable } from "@stagecraft/framework";
import { Every, schedule, type ScheduledTick } from "@stagecraft/framework/jobs";
import { tracing } from "@stagecraft/framework/observe";
import { formatDay, LinkStore } from "./link-store.js";

const UNUSED_DAYS = 90;

const log = tracing.target("links::sweeper");
const sweep = schedule("links.sweep", "30 3 * * *");

/** Removes the links of programs that were not followed for a quarter of a year; once a night, in one of all instances. */
@Injectable()
export class Sweeper {
  constructor(private readonly store: LinkStore) {}

  @Every(sweep)
  async removeUnused({ due }: ScheduledTick): Promise<void> {
    const removed = await this.store.removeUnused(formatDay(new Date(due), UNUSED_DAYS));
    log.info("unused links removed", { removed });
  }
}
