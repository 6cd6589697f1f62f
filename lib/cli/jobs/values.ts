/** Values of the command line, and times for people. */
import { FrameworkError } from "../../errors/framework-error.js";
import { UsageError } from "../command.js";
import { getDistance } from "../see/matched-routes.js";

const MAX_COMPARED = 200;

/** A number of any length, because the check of the library names the bounds. @throws UsageError unless the text is a whole number */
export function parseCount(option: string, text: string): number {
  if (/^\d+$/u.test(text)) return Number(text);
  throw new UsageError(`${JSON.stringify(text)} is not a whole number`, { fix: `give one, such as --${option} 20` });
}

/** Runs a check of the library on values of the command line. @throws UsageError with its message */
export function toUsage<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof FrameworkError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** `5 min`: in the largest unit that fits, rounded down. */
export function formatAge(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ["s", 1000];
  return `${Math.max(Math.floor(ms / size), 0)} ${unit}`;
}

/** In the form of ISO 8601, to the second. A time that no calendar has is shown as its number. */
export function formatTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? String(ms) : `${time.toISOString().slice(0, 19)}Z`;
}

/** The name that is most alike, for a fix. */
export function suggest(names: readonly string[], given: string): string | undefined {
  const some = given.slice(0, MAX_COMPARED);
  const [nearest] = names.toSorted((one, other) => getDistance(one, some) - getDistance(other, some));
  return nearest;
}
