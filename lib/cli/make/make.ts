/** `make:controller links` and its siblings: each writes one file and prints what to add elsewhere. It changes no file that exists. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandHandler } from "../command.js";
import { writeNewFile } from "../create/new-file.js";
import { MAKERS } from "./kinds.js";
import { parseNames } from "./names.js";

/** The handler throws a `UsageError` if the name is no name, and a `CommandError` if the file exists or cannot be written. */
export function make(kind: keyof typeof MAKERS): CommandHandler<{ readonly name: string }> {
  return async ({ name }, { cwd, stdout }) => {
    const { path, text, next } = MAKERS[kind](parseNames(name), new Date(), await findDatabaseOfTests(cwd));
    await writeNewFile(cwd, path, text);
    stdout.write([`wrote ${path}`, ...next.map((line) => `  ${line}`), ""].join("\n"));
  };
}

/** A new project with SQLite opens a database in memory for a test. */
async function findDatabaseOfTests(cwd: string): Promise<string> {
  const text = await readFile(join(cwd, "src/database.ts"), "utf8").catch(() => "");
  return text.includes("export function openDatabase(file = ") ? 'openDatabase(":memory:")' : "";
}
