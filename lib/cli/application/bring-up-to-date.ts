/** Brings the JavaScript of the application up to date with its sources before it is imported. */
import { existsSync } from "node:fs";
import { CommandError } from "../command.js";
import { SourceCompiler } from "./compiler.js";
import type { ApplicationFile } from "./find-application.js";
import { SourceProject } from "./source-project.js";
import { formatFault } from "./transform.js";

/** @throws CommandError if a source has a fault, or there is nothing to import */
export async function bringUpToDate({ name, source, output }: ApplicationFile): Promise<void> {
  if (source === output || !existsSync(source)) return;
  const { faults } = new SourceCompiler().update(SourceProject.of(source));
  if (faults.length > 0) throw new CommandError(`the sources do not compile\n${faults.map(formatFault).join("\n")}`);
  if (existsSync(output)) return;
  throw new CommandError(`${name} is not compiled: it is not in the sources of tsconfig.json`, {
    where: name,
    fix: "add it to include, or exclude less",
  });
}
