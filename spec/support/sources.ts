/** The source files as text, with their imports, for the specs of the house. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the repository, found from the compiled specs. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface Import {
  /** The specifier in the source: a package or a path. */
  readonly from: string;
  /** The imported file, from the repository; `undefined` for a package. */
  readonly file: string | undefined;
  /** Absent from the compiled code, under `verbatimModuleSyntax`: `import type`, `export type` and `typeof import(…)`. */
  readonly erased: boolean;
}

export interface Source {
  /** Relative to the repository, for example `lib/endpoints/path.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text without its comments. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Every file below the folder with that ending; none where the folder is missing. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .filter((path) => !path.includes("node_modules"))
    .toSorted();
}

/** The text of a file of the repository; `undefined` where it is missing. */
export function textOf(path: string): string | undefined {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined;
}

/** The first code block of a document with that language; empty where it has none. */
export function firstBlock(path: string, language: string): string {
  const text = textOf(path) ?? "";
  return new RegExp(`^\\\`\\\`\\\`${language}\\n([\\s\\S]*?)^\\\`\\\`\\\``, "m").exec(text)?.[1] ?? "";
}

/** The sources of a compiled file, from the repository: one, or those of all modules of a chunk. */
export function compiledFrom(path: string): readonly string[] {
  const map = textOf(`${path}.map`);
  // tsc or the bundler has written it.
  const { sources } =
    map === undefined ? { sources: [] } : (JSON.parse(map) as { readonly sources: readonly string[] });
  return sources.map((source) => join(dirname(path), source)).filter((source) => source.startsWith("lib/"));
}

export function sourcesBelow(folder: string): readonly Source[] {
  return [...filesBelow(folder, ".ts"), ...filesBelow(folder, ".cts")].map((path) => {
    const text = withoutTemplates(path, textOf(path) ?? "");
    return { path, text, code: withoutComments(text), imports: importsOf(path, text) };
  });
}

/** The files that the command writes into a project are no code of the library. Their lines stay, empty, so that a file has its length. */
function withoutTemplates(path: string, text: string): string {
  if (!/^lib\/cli\/(?:create|make)\//.test(path)) return text;
  const severalLines = /(?<=(?:= |: |return |^ +))`(?:\\.|[^`\\])*\n(?:\\.|[^`\\])*`/gm;
  return text.replaceAll(severalLines, (template) => `\`${template.replaceAll(/[^\n]/g, "")}\``);
}

/** One line for each breach of a rule, the path first, so that a failure reads as a list of changes to make. */
export function breaches(sources: readonly Source[], find: (source: Source) => readonly string[]): readonly string[] {
  return sources.flatMap((source) => find(source).map((breach) => `${source.path} ${breach}`));
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[\w$*\s,]*|[\w$\s,]*\{[^}]*\})\s*from\s+"([^"]+)"/gm;
const BARE = /^import\s+"([^"]+)"/gm;
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*"([^"]+)"/g;
const REQUIRED = /\brequire\("([^"]+)"\)/g;

/** The imports of a file's text; exported for its own spec. */
export function importsOf(path: string, text: string): readonly Import[] {
  const code = withoutComments(text);
  const typed = [STATEMENT, DYNAMIC].flatMap((pattern) => [...code.matchAll(pattern)]);
  const found = typed.map(([, type, from = ""]) => ({ from, erased: type !== undefined }));
  const plain = [BARE, REQUIRED].flatMap((pattern) => [...code.matchAll(pattern)]);
  const unerased = plain.map(([, from = ""]) => ({ from, erased: false }));
  return [...found, ...unerased].map(({ from, erased }) => ({ from, erased, file: fileOf(path, from) }));
}

/** Relies on prettier, which puts comments on lines of their own; a string with `//` stays. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

function fileOf(importer: string, from: string): string | undefined {
  if (from.startsWith("#")) return toSource(manifest().imports[from]?.default ?? from);
  if (!from.startsWith(".")) return undefined;
  return posix.join(dirname(importer), from).replace(/\.(c?)js$/, ".$1ts");
}

/** `./dist/lib/x.js` → `lib/x.ts` */
export function toSource(built: string): string {
  return built.replace("./dist/", "").replace(/\.js$/, ".ts");
}

/** `@koa/router/lib/x` → `@koa/router`, `koa` → `koa`. */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

export interface Manifest {
  readonly name: string;
  /** The files and folders of the package, beside those that npm always packs. */
  readonly files: readonly string[];
  readonly imports: Readonly<Record<string, { readonly default: string }>>;
  readonly exports: Readonly<Record<string, string | EntryPoint>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface EntryPoint {
  readonly types: string;
  /** For bundles for a browser. */
  readonly browser: string;
  readonly default: string;
}

/** The package.json of the repository. */
export function manifest(): Manifest {
  // npm has checked the form of this file.
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
}
