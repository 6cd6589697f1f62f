/**
 * The TypeScript of the guide as files: a block whose first line is `// name.ts` is a module of that name. A page is a folder, so that
 * its blocks can import each other; they are compiled with the settings that the guide tells its readers. Other blocks are fragments.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { filesBelow, ROOT, textOf } from "./sources.js";

/** Below `dist`, so that the package is found by its own name. */
const FOLDER = join(ROOT, "dist/guide");

export interface GuideProgram {
  /** From the folder, for example `routing/urls.ts`. */
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

/** What the compiler has to say, line by line; nothing where all is well. */
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
    // The compiler tells its findings on standard output, and ends with a code.
    return (error as { readonly stdout: string }).stdout.trim().split("\n");
  }
}

/** Where a program lies once it is compiled, from the specs' helpers. */
export function compiledProgram(path: string): string {
  return `../../guide/dist/${path}`;
}

/** The `tsconfig.json` of the guide's first steps, as it stands there. */
export function recommendedSettings(): string {
  return /^```json\n([\s\S]*?)^```/m.exec(textOf("docs/guide/first-steps.md") ?? "")?.[1] ?? "";
}
