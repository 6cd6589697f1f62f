/**
 * The times of a cron text in a time zone. A local time that a change to daylight saving skips becomes the first minute after the change; a
 * local time that comes twice counts once, the first time. Where the hour is `*`, the text means an interval, so each hour that passes
 * counts, also around a change of the clock.
 *
 * `croner` reads the text and steps through the fields. The rule for changes of the clock is applied here, so it does not depend on the
 * version of the package.
 */
import type { Cron as CronPattern } from "croner";
import { expectPeer, requirePeer } from "../../errors/optional-package.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { ZoneTimes } from "./zone-times.js";

const PEER = { entry: "schedule()", name: "croner", from: "9.0.0", install: "croner@11" };
const FIVE_FIELDS = /^\s*\S+(?:\s+\S+){4}\s*$/;
const MAX_CHARACTERS = 200;
/** The spans in which the latest tick is searched, from a minute to eight years (29 February), so that few steps find it. */
const SEARCH_SPANS_MS = [60_000, 3_600_000, 86_400_000, 2_678_400_000, 31_622_400_000, 252_460_800_000];

export class CronTimes {
  /** Steps through local times as if they were UTC. For an interval it steps through the real hours of the zone. */
  private readonly pattern: CronPattern;
  private readonly zone: ZoneTimes | undefined;

  /** @throws FrameworkError `E_SCHEDULE_CRON`, `E_SCHEDULE_ZONE`, `E_PEER_MISSING` */
  constructor(text: string, timeZone: string) {
    const zone = timeZone === "UTC" ? undefined : new ZoneTimes(timeZone);
    if (typeof text !== "string" || text.length > MAX_CHARACTERS || !FIVE_FIELDS.test(text)) throw invalidCron(text);
    const isInterval = text.trim().split(/\s+/)[1]?.startsWith("*") === true;
    this.zone = isInterval ? undefined : zone;
    this.pattern = parsePattern(text.trim(), isInterval ? timeZone : "UTC");
    if (this.pattern.nextRun(new Date(0)) === null) throw invalidCron(text, "it names no date that exists");
  }

  /** The first time after `ms`, in milliseconds since the Unix epoch. */
  next(ms: number): number {
    const { zone } = this;
    if (zone === undefined) return this.step(ms);
    for (let wall = this.step(zone.toWallTime(ms)); ; wall = this.step(wall)) {
      const time = zone.toTime(wall);
      if (time > ms) return time;
    }
  }

  /** The last time from `after`, exclusive, to `now`, inclusive. */
  latest(after: number, now: number): number | undefined {
    for (const span of [...SEARCH_SPANS_MS.filter((each) => now - each > after), now - after]) {
      const latest = this.lastBetween(now - span, now);
      if (latest !== undefined) return latest;
    }
    return undefined;
  }

  private lastBetween(after: number, now: number): number | undefined {
    let latest: number | undefined;
    for (let time = this.next(after); time <= now; time = this.next(time)) latest = time;
    return latest;
  }

  private step(ms: number): number {
    const next = this.pattern.nextRun(new Date(ms));
    return next === null ? Infinity : next.getTime();
  }
}

/** @throws FrameworkError `E_SCHEDULE_CRON` */
function parsePattern(text: string, timezone: string): CronPattern {
  expectPeer(PEER);
  const { Cron } = requirePeer(PEER) as typeof import("croner");
  try {
    // The first named zone loads the data of all zones, which is slow. UTC needs none of it.
    return new Cron(text, { ...(timezone === "UTC" ? { utcOffset: 0 } : { timezone }), paused: true });
  } catch (cause) {
    throw invalidCron(text, undefined, cause);
  }
}

function invalidCron(
  text: unknown,
  why = "give five fields: minute, hour, day, month, day of the week",
  cause?: unknown,
) {
  const shown = typeof text === "string" ? JSON.stringify(text.slice(0, MAX_CHARACTERS)) : valueText(text);
  return createSetupError("E_SCHEDULE_CRON", `${shown} is not a schedule: ${why}`, cause);
}
