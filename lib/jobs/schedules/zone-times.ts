/**
 * Local times of a time zone as numbers: the milliseconds that a UTC clock would have at the same date and hour. A local time that a change
 * of the clock skips means the moment of the change. A local time that comes twice means the first of the two.
 */
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";

const DAY_MS = 86_400_000;

export class ZoneTimes {
  private readonly format: Intl.DateTimeFormat;

  /** @throws FrameworkError `E_SCHEDULE_ZONE` */
  constructor(timeZone: string) {
    try {
      this.format = new Intl.DateTimeFormat("en-US", {
        timeZone,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch (cause) {
      throw createSetupError(
        "E_SCHEDULE_ZONE",
        `${valueText(timeZone)} is not a time zone: give a name such as "Europe/Berlin"`,
        cause,
      );
    }
  }

  /** The local time at a moment. */
  toWallTime(ms: number): number {
    const parts = new Map(this.format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const getPart = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const seconds = Date.UTC(
      getPart("year"),
      getPart("month") - 1,
      getPart("day"),
      getPart("hour"),
      getPart("minute"),
      getPart("second"),
    );
    return seconds + (((ms % 1000) + 1000) % 1000);
  }

  /** The moment of a local time. */
  toTime(wall: number): number {
    if (!Number.isFinite(wall)) return wall;
    // The offsets one day before and one day after the local time, to see a change of the clock in between.
    const offsets = [wall - DAY_MS, wall + DAY_MS].map((ms) => this.toWallTime(ms) - ms);
    const times = offsets.map((offset) => wall - offset).toSorted((one, other) => one - other);
    return times.find((time) => this.toWallTime(time) === wall) ?? this.findChange(times, wall);
  }

  /** The first moment whose local time is after `wall`, to the second. */
  private findChange([first = 0, last = first]: readonly number[], wall: number): number {
    let [low, high] = [first - 1000, last + 1000];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (middle <= low) break;
      if (this.toWallTime(middle) > wall) high = middle;
      else low = middle;
    }
    return Math.ceil(high / 1000) * 1000;
  }
}
