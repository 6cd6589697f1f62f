import { StartupError } from "../../lib/entries/main.js";
import { errorOf } from "./error-of.js";

/** The `StartupError` that a call throws. Fails the test if the call throws another error, or none. */
export function startupErrorOf(call: () => unknown): StartupError {
  const error = errorOf(call);
  if (error instanceof StartupError) return error;
  throw new Error(`expected a StartupError, received ${String(error)}`, { cause: error });
}
