import { Clock, Injectable } from "@stagecraft/framework";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { z } from "zod";
import { formatDay, LinkStore } from "./link-store.js";

const Click = z.object({ slug: z.string(), day: z.string() });

const countClick = job("links.click", Click);

/** Counts clicks by jobs: a visitor who follows a link does not wait for two writes, and a click outlives a restart. */
@Injectable()
export class Clicks {
  constructor(
    private readonly jobs: Jobs,
    private readonly store: LinkStore,
    private readonly clock: Clock,
  ) {}

  async record(slug: string): Promise<void> {
    await this.jobs.dispatch(countClick, { slug, day: formatDay(new Date(this.clock.now())) });
  }

  @Handles(countClick)
  count({ slug, day }: z.output<typeof Click>): Promise<void> {
    return this.store.countVisit(slug, day);
  }
}
