/**
 * Removes dead letters by age and by number: once by `jobs.purge`, or regularly by the workers of an application with the option
 * `deadLetters`.
 */
import { AsyncResource } from "node:async_hooks";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import type { Clock, Timer } from "../runtime/clock.js";
import type { JobAdmin } from "./job-admin.js";
import type { JobReports } from "./job-reports.js";
import { checkJobOption } from "./job.js";
import { runQuietly } from "./worker/quiet.js";

export interface PurgeOptions {
  /** Dead letters older than this many milliseconds are removed. */
  readonly olderThanMs?: number;
  /** Only this many of the latest dead letters stay; in BullMQ, in each queue. */
  readonly keep?: number;
}

const NAMES: OptionNames<PurgeOptions> = { olderThanMs: true, keep: true };
const MAX_AGE_MS = 3_153_600_000_000;
const MAX_KEEP = 100_000_000;
/** The maximum number of dead letters that one call of the store removes. */
const MAX_BATCH = 1000;
const INTERVAL_MS = 600_000;

/** @throws FrameworkError `E_JOB_OPTION` without an age and a number, `E_OPTION` */
export function checkPurge(options: PurgeOptions): PurgeOptions {
  checkOptionNames(options, NAMES, "the removal of dead letters");
  const { olderThanMs, keep } = options;
  if (olderThanMs !== undefined) checkJobOption("olderThanMs", olderThanMs, 0, MAX_AGE_MS);
  if (keep !== undefined) checkJobOption("keep", keep, 0, MAX_KEEP);
  if (olderThanMs === undefined && keep === undefined)
    throw createSetupError("E_JOB_OPTION", "the removal of dead letters needs olderThanMs, keep, or both");
  return options;
}

/** Returns the number of removed dead letters. */
export async function purgeAll(admin: JobAdmin, { olderThanMs, keep }: PurgeOptions): Promise<number> {
  let all = 0;
  for (let removed = MAX_BATCH; removed >= MAX_BATCH; all += removed) {
    removed = await admin.purge({ olderThanMs, keep, limit: MAX_BATCH });
  }
  return all;
}

/** Removes dead letters at once, and then about every ten minutes. */
export class DeadLetterRetention {
  private timer: Timer | undefined;
  private purging: Promise<void> = Promise.resolve();
  private isStopped = false;
  private readonly purge = AsyncResource.bind(() => {
    this.purging = this.purgeNow();
  });

  private constructor(
    private readonly admin: JobAdmin,
    private readonly options: PurgeOptions,
    private readonly clock: Clock,
    private readonly reports: JobReports,
  ) {}

  static start(admin: JobAdmin, options: PurgeOptions, clock: Clock, reports: JobReports): DeadLetterRetention {
    const retention = new DeadLetterRetention(admin, options, clock, reports);
    retention.purge();
    return retention;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.purging;
  }

  private async purgeNow(): Promise<void> {
    try {
      const removed = await runQuietly(() => purgeAll(this.admin, this.options));
      if (removed > 0) this.reports.purged(removed);
    } catch (error) {
      this.reports.storeFailed("purge", error);
    }
    // The jitter keeps many processes from removing at the same moment.
    if (!this.isStopped) this.timer = this.clock.setTimeout(this.purge, INTERVAL_MS * (0.8 + Math.random() * 0.4));
  }
}
