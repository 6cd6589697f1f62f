/**
 * The check of a setting that is a whole number: a size, a count, milliseconds. Not for values of a request, whose errors have a status.
 *
 * @example
 * this.maxBytes = checkWholeNumber("E_CACHE_LIMIT", "maxBytes", options.maxBytes ?? 1024, [1]);
 */
import { createSetupError } from "./setup-error.js";
import { valueText } from "./value-text.js";

/** Returns the value. @throws FrameworkError with the code if it is not a whole number in the range */
export function checkWholeNumber(
  code: string,
  name: string,
  value: number,
  [min, max]: readonly [min: number, max?: number],
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= (max ?? Infinity)) return value;
  const range = max === undefined ? `from ${min}` : `from ${min} to ${max}`;
  throw createSetupError(code, `${name} is a whole number ${range}, not ${valueText(value)}`);
}
