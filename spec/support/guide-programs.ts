/**
 * The TypeScript blocks of the guide as files. A block whose first line is `// name.ts` becomes a module of that name. Each page is a
 * folder, so its modules can import each other. The compiler settings are the settings of the guide. Other blocks are ignored.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { filesBelow, ROOT, textOf } from "./sources.js";

/** Below `dist`, so that the package is found by its own name. */
const FOLDER = join(ROOT, "dist/guide");

export interface GuideProgram {
  /** Relative to the folder, for example `routing/urls.ts`. */
  readonly path: string;
  readonly code: string;
}

export function guidePrograms(): readonly GuideProgram[] {
  return filesBelow("docs/guide", ".md").flatMap((page) => programsOf(page, textOf(page) ?? ""));
}

function programsOf(page: string, text: string): GuideProgram[] {
  const name = page.slice("docs/guide/".length, -".md".length);
  const blocks = text.matchAll(/^```ts\n(\/\/ ([\w.-]+\.ts)\n[\s\S]*?)^```/gm);
  return [...blocks].map(([, code = "", file = ""]) => ({ path: `${name}/${file}`, code }));
}

/** The lines of the compiler's errors; empty without an error. */
export async function compileGuide(programs: readonly GuideProgram[]): Promise<readonly string[]> {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const { path, code } of programs) {
    mkdirSync(dirname(join(FOLDER, "src", path)), { recursive: true });
    writeFileSync(join(FOLDER, "src", path), code);
  }
  writeFileSync(join(FOLDER, "tsconfig.json"), recommendedSettings());
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    await promisify(execFile)(process.execPath, [compiler, "-p", FOLDER, "--pretty", "false"]);
    return [];
  } catch (error) {
    // The compiler writes its errors to standard output, and exits with a code.
    return (error as { readonly stdout: string }).stdout.trim().split("\n");
  }
}

/** The path of a compiled program, relative to this folder. */
export function compiledProgram(path: string): string {
  return `../../guide/dist/${path}`;
}

/** The `tsconfig.json` of the guide's page "first steps". */
export function recommendedSettings(): string {
  return /^```json\n([\s\S]*?)^```/m.exec(textOf("docs/guide/first-steps.md") ?? "")?.[1] ?? "";
}
