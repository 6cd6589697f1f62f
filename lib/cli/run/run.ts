/**
 * Runs a command of the application, or shows what it has: `npx stagecraft reports:send`. The subsystems start before the method and stop
 * after it, and nothing listens. Events from level WARN on go to standard error, unless `RUST_LOG` or the application says otherwise.
 */
import { findUnlistedClasses } from "../../di/unlisted.js";
import { installLogging } from "../../observe/logging/install.js";
import { currentSubscriber } from "../../tracing/flow.js";
import { loadApplication, type LoadedApplication } from "../application/load-application.js";
import { UsageError, type CommandContext, type DescribedCommand, type ExitCode } from "../command.js";
import { CommandOptions } from "./options.js";

/** @throws UsageError for an unknown command and for wrong options; the errors of the load, of the start and of the method */
export async function runApplicationCommand(
  name: string,
  words: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const loaded = await loadApplication(context);
  const { application } = loaded;
  const command = application.commands.find((each) => each.name === name);
  if (command === undefined) throw describeUnknown(name, loaded);
  const values = await new CommandOptions(command).read(words);
  if (currentSubscriber() === undefined) installLogging("warn");
  const { stdout, stderr, signal } = context;
  const failed = await application.workOnce(() => command.run(values, { stdout, stderr, signal }), signal);
  return failed > 0 ? 1 : 0;
}

/** The commands of the application for the help, where no list has them. @throws UsageError for an unknown command; the errors of the load */
export async function describeCommands(name: string, context: CommandContext): Promise<readonly DescribedCommand[]> {
  const loaded = await loadApplication(context);
  const { application } = loaded;
  if (!application.commands.some((each) => each.name === name)) throw describeUnknown(name, loaded);
  return application.commands.map((each) => new CommandOptions(each).described);
}

function describeUnknown(name: string, { application, file }: LoadedApplication): UsageError {
  const names = application.commands.map((each) => each.name);
  const unlisted = findUnlistedClasses("@Command").length;
  return new UsageError(`unknown command ${JSON.stringify(name)}`, {
    where: file.name,
    fix:
      unlisted > 0
        ? "list the class under providers of a module: a class has @Command and no module lists it"
        : names.length === 0
          ? 'write @Command("group:name", schema) above a method of a provider'
          : `the commands of the application are ${names.join(", ")}`,
  });
}
