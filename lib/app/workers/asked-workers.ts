/**
 * The workers that `stagecraft start --workers` asks for. The command runs the program in its process, so it leaves its wish in an environment
 * variable, which `run()` and `runWorkers()` remove: processes that the program starts do not get it. Each worker runs the command again.
 *
 * The command imports this file before the framework, so it imports nothing.
 */

const VARIABLE = "FRAMEWORK_WORKERS";

/** Far above the processors of a machine: a larger number is a mistake. */
export const MAX_WORKERS = 512;

export function askForWorkers(workers: string): void {
  process.env[VARIABLE] = workers;
}

/** A number that no program can have is refused by the check of `runWorkers()`. */
export function takeAskedWorkers(): "auto" | number | undefined {
  const text = process.env[VARIABLE];
  Reflect.deleteProperty(process.env, VARIABLE);
  return text === undefined || text === "auto" ? text : Number(text);
}
