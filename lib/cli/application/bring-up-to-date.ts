/**
 * Brings the JavaScript of the application up to date with its sources before it is imported.
 *
 * Without a compiler only a missing output is found.
 */
import { existsSync } from "node:fs";
import { CommandError } from "../command.js";
import type { ApplicationFile } from "./find-application.js";

/** @throws CommandError if there is nothing to import */
export async function bringUpToDate({ name, output }: ApplicationFile): Promise<void> {
  if (existsSync(output)) return;
  throw new CommandError(`${name} is not compiled: ${output} does not exist`, {
    where: name,
    fix: "compile it: npx tsc",
  });
}
