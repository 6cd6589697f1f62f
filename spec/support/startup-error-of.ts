import { StartupError } from "../../lib/entries/main.js";
import { errorOf } from "./error-of.js";

/** The `StartupError` that a call throws; one that throws another error, or none, fails the test. */
export function startupErrorOf(call: () => unknown): StartupError {
  const error = errorOf(call);
  if (error instanceof StartupError) return error;
  throw new Error(`expected a StartupError, saw ${String(error)}`, { cause: error });
}
