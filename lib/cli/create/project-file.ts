/** A file of a new project: its path below the folder of the project, and its text. */
export type ProjectFile = readonly [path: string, text: string];

/** Joins the lines that the options ask for: `false` is a line that is left out. */
export function toText(...lines: readonly (string | false)[]): string {
  return `${lines.filter((line) => line !== false).join("\n")}\n`;
}

const MAX_WIDTH = 120;

/** One line, or a line for each name where that would be too long. */
export function toImport(names: readonly string[], from: string): string {
  const line = `import { ${names.join(", ")} } from "${from}";`;
  if (line.length <= MAX_WIDTH) return line;
  return ["import {", ...names.map((name) => `  ${name},`), `} from "${from}";`].join("\n");
}
