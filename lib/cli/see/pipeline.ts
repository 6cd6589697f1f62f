/** `stagecraft pipeline`: the stages in their order, each on or off. With `--check` they are compared with a file that it has written. */
import type { StageRow } from "../../pipeline/pipeline.js";
import { loadApplication } from "../application/load-application.js";
import { STAGES } from "../../pipeline/table.js";
import { CommandError, type CommandContext, type ExitCode } from "../command.js";
import { formatColumns } from "../text-table.js";
import { readGivenFile, readGivenJson, writeJson } from "./given-file.js";

export async function pipeline(
  { check }: { readonly check: string | undefined },
  context: CommandContext,
): Promise<ExitCode> {
  const { application } = await loadApplication(context);
  const rows = application.pipeline();
  if (check !== undefined) return compare(readStates(check, context), rows, check, context);
  if (context.isJson) writeJson(context, rows);
  else context.stdout.write(formatStages(rows));
  return 0;
}

function formatStages(rows: readonly StageRow[]): string {
  return formatColumns(
    rows.map(({ number, slot, on, why }) => [String(number).padStart(2), slot, on ? "on" : "off", why]),
  );
}

/**
 * The state of each slot. The reasons are not compared, so that other words in a later version are no difference.
 *
 * @throws CommandError if the file cannot be read, or has no stage
 */
function readStates(file: string, context: CommandContext): ReadonlyMap<string, string> {
  const text = readGivenFile(file, context);
  const states = text.trimStart().startsWith("[")
    ? Object.values(readGivenJson(file, context)).map((row): [string, string] => {
        const { slot, on } = Object(row);
        return [String(slot), on === true ? "on" : "off"];
      })
    : [...text.matchAll(/^ *\d+ +(\w+) +(on|off)\b/gm)].map(([, slot = "", state = ""]): [string, string] => [
        slot,
        state,
      ]);
  if (states.some(([slot]) => STAGES.some((stage) => stage.slot === slot))) return new Map(states);
  throw new CommandError(`${file} has no stage`, { fix: `write it first: stagecraft pipeline > ${file}` });
}

function compare(
  written: ReadonlyMap<string, string>,
  rows: readonly StageRow[],
  file: string,
  context: CommandContext,
): ExitCode {
  const differences = rows
    .map(({ slot, on }) => ({ slot, before: written.get(slot) ?? "missing", after: on ? "on" : "off" }))
    .filter(({ before, after }) => before !== after);
  if (context.isJson) writeJson(context, differences);
  else
    for (const { slot, before, after } of differences)
      context.stdout.write(`${slot}: ${before} in ${file}, ${after} in the application\n`);
  if (differences.length === 0) return 0;
  context.stderr.write(
    `the stages differ from ${file}\n  fix: stagecraft pipeline > ${file}, if the change is intended\n`,
  );
  return 1;
}
