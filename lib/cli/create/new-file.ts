/** A file that a command writes into a project. It replaces no file, and it stays inside of the folder. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../command.js";

/** @throws CommandError if the file exists, or cannot be written */
export async function writeNewFile(folder: string, path: string, text: string): Promise<void> {
  const file = join(folder, path);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST" && existsSync(file))
      throw new CommandError("the file exists already", {
        where: path,
        fix: "choose another name, or remove the file",
      });
    throw new CommandError(`the file cannot be written (${code})`, {
      where: path,
      fix: `check the permissions of ${folder}, the space on its disk, and that no file has the name of a folder`,
      cause: error,
    });
  }
}
