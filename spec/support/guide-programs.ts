/**
 * The TypeScript blocks of the guide and the readme as files. A block whose first line is `// name.ts` becomes a module of that name. Each
 * page is a folder, so its modules can import each other. The compiler settings are the settings of the guide. Other blocks are ignored.
 * A block below the comment `<!-- does not compile -->` is wrong on purpose: the next `text` block shows the message of the compiler.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { filesBelow, firstBlock, ROOT, textOf } from "./sources.js";

/** Below `dist`, so that the package is found by its own name. */
const FOLDER = join(ROOT, "dist/guide");

export interface GuideProgram {
  /** Relative to the folder, for example `routing/urls.ts`. */
  readonly path: string;
  readonly code: string;
  /** The message of the compiler as the page shows it, for a program that is wrong on purpose. */
  readonly message: string | undefined;
}

const PROGRAM =
  /(<!-- does not compile -->\n\n)?^```ts\n(\/\/ ([\w.-]+\.ts)\n[\s\S]*?)^```(?:\n\n```text\n([\s\S]*?)^```)?/gm;

export function guidePrograms(): readonly GuideProgram[] {
  return ["README.md", ...filesBelow("docs/guide", ".md")].flatMap((page) => programsOf(page, textOf(page) ?? ""));
}

function programsOf(page: string, text: string): GuideProgram[] {
  const name = basename(page, ".md");
  return [...text.matchAll(PROGRAM)].map(([, isWrong, code = "", file = "", message = ""]) => ({
    path: `${name}/${file}`,
    code,
    message: isWrong === undefined ? undefined : message,
  }));
}

/** The errors of the compiler for each program that has any, with its place from the folder of the page: `src/urls.ts(6,6): error …`. */
export async function compileGuide(programs: readonly GuideProgram[]): Promise<ReadonlyMap<string, string>> {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const { path, code } of programs) {
    mkdirSync(dirname(join(FOLDER, "src", path)), { recursive: true });
    writeFileSync(join(FOLDER, "src", path), code);
  }
  writeFileSync(join(FOLDER, "tsconfig.json"), recommendedSettings());
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    // The spec of the entry points checks the declarations themselves, which takes as long as all programs.
    const options = ["-p", FOLDER, "--pretty", "false", "--skipLibCheck"];
    await promisify(execFile)(process.execPath, [compiler, ...options], { cwd: FOLDER });
    return new Map();
  } catch (error) {
    // The compiler writes its errors to standard output, and exits with a code.
    return errorsByProgram((error as { readonly stdout: string }).stdout);
  }
}

/** An error stands at the start of a line; its further lines are indented. */
function errorsByProgram(output: string): ReadonlyMap<string, string> {
  const byProgram = new Map<string, string>();
  for (const error of output.split(/^(?=\S)/m)) {
    const [, folder = "", file = ""] = /^src\/([\w-]+)\/([\w.-]+)\(/.exec(error) ?? [];
    const path = `${folder}/${file}`;
    byProgram.set(path, (byProgram.get(path) ?? "") + error.replace(`src/${folder}/`, "src/"));
  }
  return byProgram;
}

/** The path of a compiled program, relative to this folder. */
export function compiledProgram(path: string): string {
  return `../../guide/dist/${path}`;
}

/** The `tsconfig.json` of the guide's page "first steps". */
export function recommendedSettings(): string {
  return firstBlock("docs/guide/first-steps.md", "json");
}
