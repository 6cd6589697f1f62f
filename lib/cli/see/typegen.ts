/**
 * `stagecraft typegen`: the types of the endpoints for a front end in another repository, as one file. With `--check` nothing is written, and
 * a file that differs fails.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { causeText } from "../../errors/thrown-value.js";
import { loadApplication } from "../application/load-application.js";
import { CommandError, UsageError, type CommandContext, type ExitCode } from "../command.js";
import { readGivenFile } from "./given-file.js";
import { createClientFile, listEndpoints } from "./typegen/client-file.js";

interface TypegenValues {
  readonly check: true | undefined;
  readonly out: string | undefined;
}

export async function typegen({ check, out }: TypegenValues, context: CommandContext): Promise<ExitCode> {
  if (check === true && out === undefined)
    throw new UsageError("--check compares with a file", { fix: "stagecraft typegen --check --out api.ts" });
  const { application } = await loadApplication(context);
  const text = createClientFile(application.routes().descriptors());
  if (out === undefined) context.stdout.write(text);
  else if (check === true) return compare(readGivenFile(out, context).replaceAll("\r\n", "\n"), text, out, context);
  else write(resolve(context.cwd, out), text);
  return 0;
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new CommandError(`${file} cannot be written: ${causeText(cause)}`, {
      fix: "name a file, in a folder that exists and can be written",
      cause,
    });
  }
}

function compare(earlier: string, text: string, file: string, { stdout, stderr }: CommandContext): ExitCode {
  if (earlier === text) return 0;
  const [before, after] = [listEndpoints(earlier), listEndpoints(text)];
  for (const name of [...new Set([...before.keys(), ...after.keys()])].toSorted()) {
    const [old, present] = [before.get(name), after.get(name)];
    if (old === present) continue;
    stdout.write(`${old === undefined ? "added" : present === undefined ? "removed" : "changed"}  ${name}\n`);
  }
  stderr.write(`${file} is not as the application is\n  fix: stagecraft typegen --out ${file}\n`);
  return 1;
}
