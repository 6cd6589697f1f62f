/** The limits of a multipart form, checked and complete. */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { checkWholeNumber } from "../errors/whole-number.js";
import type { UploadLimits } from "../http/body/uploads.js";
import { MAX_TIMER_MS } from "../runtime/clock.js";

export type CompleteUploadLimits = Readonly<Required<UploadLimits>>;

const MIB = 1_048_576;

export const DEFAULT_UPLOAD_LIMITS: CompleteUploadLimits = Object.freeze({
  bytes: 16 * MIB,
  fileBytes: 8 * MIB,
  fieldBytes: MIB,
  parts: 32,
  timeoutMs: 30_000,
  idleMs: 10_000,
});

export const LIMIT_NAMES: OptionNames<UploadLimits> = {
  bytes: true,
  fileBytes: true,
  fieldBytes: true,
  parts: true,
  timeoutMs: true,
  idleMs: true,
};

/** The names of the limits. */
const NAMES = Object.keys(LIMIT_NAMES) as (keyof UploadLimits)[]; // Its type has these names and no others.

/**
 * The given limits, and the others from `base`.
 *
 * @throws FrameworkError `E_OPTION` for an unknown name, `E_UPLOADS_LIMIT` for a value that is not a whole number above 0
 */
export function completeLimits(
  given: UploadLimits | undefined,
  base: CompleteUploadLimits,
  where: string,
): CompleteUploadLimits {
  if (given === undefined) return base;
  checkOptionNames(given, LIMIT_NAMES, where);
  const complete = { ...base };
  for (const name of NAMES) complete[name] = checkLimit(name, given[name] ?? base[name]);
  return complete;
}

function checkLimit(name: keyof UploadLimits, value: number): number {
  const max = name.endsWith("Ms") ? MAX_TIMER_MS : Number.MAX_SAFE_INTEGER - 1;
  return checkWholeNumber("E_UPLOADS_LIMIT", `the limit ${name} of uploads`, value, [1, max]);
}
