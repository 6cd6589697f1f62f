/**
 * The check of an object of options: an unknown name is refused. The compiler does not see such names in plain JavaScript, or in an object
 * that is built before the call. Only where a misspelt option would drop a protection, a limit or a promise in silence, and never for each
 * request.
 *
 * @example
 * checkOptionNames(options, { secure: true, idleMs: true }, "new SessionConfig");
 */
import { createSetupError } from "./setup-error.js";

/** Each name of an option. The compiler refuses a list that lacks one. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/** @throws FrameworkError `E_OPTION` for the first unknown name. Values that are not objects are left to other checks. */
export function checkOptionNames<T extends object>(
  given: T | undefined,
  names: Readonly<Record<keyof T, unknown>>,
  where: string,
): void {
  if (typeof given !== "object" || given === null) return;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const known = Object.keys(names).join(", ");
  throw createSetupError("E_OPTION", `${where}: ${JSON.stringify(unknown)} is not an option; the options are ${known}`);
}
