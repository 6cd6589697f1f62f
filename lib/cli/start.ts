/** `stagecraft start`: runs the compiled program as a release, in this process. `main.ts` has turned the cache of compiled code on. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { askForWorkers, MAX_WORKERS } from "../app/workers/asked-workers.js";
import { loadEnvironmentFile } from "./application/environment-file.js";
import { findApplication } from "./application/find-application.js";
import { readSettings } from "./application/package-settings.js";
import { findOutput, isTypeScript } from "./application/typescript-config.js";
import { CommandError, UsageError, type CommandContext, type ExitCode } from "./command.js";

export interface StartValues {
  readonly workers: string | undefined;
}

export async function start({ workers }: StartValues, context: CommandContext): Promise<ExitCode> {
  if (workers !== undefined) checkWorkers(workers);
  const { root, source } = findApplication(context);
  const { main: named } = readSettings(root);
  const beside = join(dirname(source), isTypeScript(source) ? "main.ts" : "main.js");
  const main = named === undefined ? beside : resolve(root, named);
  const program = isTypeScript(main) ? findOutput(main) : main;
  if (!existsSync(program)) {
    throw new CommandError(`${relative(context.cwd, program)} does not exist`, { fix: "run stagecraft build" });
  }
  becomeProgram();
  loadEnvironmentFile(root, process.env);
  // The first import of the framework reads it. A person may set "development" to try a build.
  process.env["NODE_ENV"] ??= "production";
  if (workers !== undefined) askForWorkers(workers);
  await import(pathToFileURL(program).href);
  return process.exitCode === undefined || process.exitCode === 0 ? 0 : 1;
}

function checkWorkers(workers: string): void {
  if (workers === "auto" || (/^[1-9]\d*$/.test(workers) && Number(workers) <= MAX_WORKERS)) return;
  throw new UsageError("the number of workers is not valid", { fix: `give auto or a number from 1 to ${MAX_WORKERS}` });
}

/** The command keeps its result apart from the output of an application, and ends at an uncaught error. Here the application decides. */
export function becomeProgram(): void {
  Reflect.deleteProperty(process.stdout, "write");
  process.removeAllListeners("uncaughtException");
}
