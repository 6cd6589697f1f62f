/** The nearest folder that has a file, as Node and TypeScript find package.json and tsconfig.json. */
import { existsSync } from "node:fs";
import { dirname, join, parse } from "node:path";

/** From `start` upwards; `undefined` where no folder has the file. */
export function findUpwards(file: string, start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, file))) return folder;
    if (folder === parse(folder).root) return undefined;
  }
}
