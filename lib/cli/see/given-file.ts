/** Files that the command line names, and results as JSON. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { causeText } from "../../errors/thrown-value.js";
import { CommandError, type CommandContext } from "../command.js";

/** @throws CommandError if the file cannot be read */
export function readGivenFile(file: string, { cwd }: Pick<CommandContext, "cwd">): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${causeText(cause)}`, {
      fix: "write it first, or correct its name",
      cause,
    });
  }
}

/** @throws CommandError if the file cannot be read, or is no object of JSON */
export function readGivenJson(file: string, context: Pick<CommandContext, "cwd">): object {
  const text = readGivenFile(file, context);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The error below says the same.
  }
  throw new CommandError(`${file} is not a JSON document`, { fix: "write it with the same command and --json" });
}

export function writeJson({ stdout }: Pick<CommandContext, "stdout">, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`);
}
