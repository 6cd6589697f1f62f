/**
 * The part of the nearest tsconfig.json that a command needs: the sources, where the compiler puts their JavaScript, and how it treats
 * decorators. It reads comments, trailing commas and `extends`, because `tsc --showConfig` takes longer than most commands.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import { CommandError } from "../command.js";
import { findUpwards } from "./find-upwards.js";

export interface TypeScriptConfig {
  readonly file: string;
  /** The file, and before it those that it extends. */
  readonly settingFiles: readonly string[];
  /** The `compilerOptions`, those of `extends` included. Paths are absolute. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The sources, as absolute paths and patterns. */
  readonly files: readonly string[] | undefined;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
}

export const TYPESCRIPT = /\.[cm]?tsx?$/;

export function isTypeScript(file: string): boolean {
  return TYPESCRIPT.test(file);
}

/** The JavaScript of a source, in `outDir` of the nearest tsconfig.json. */
export function findOutput(source: string): string {
  return toOutput(source, readTypeScriptConfig(source) ?? { file: dirname(source), options: {} });
}

/** @throws CommandError for a source outside `rootDir` */
export function toOutput(source: string, { file, options }: Pick<TypeScriptConfig, "file" | "options">): string {
  const { rootDir, outDir } = getOutputFolders(file, options);
  const path = relative(rootDir, source);
  if (path.startsWith("..") || isAbsolute(path))
    throw new CommandError(`${source} is outside rootDir, so that it has no output`, {
      where: file,
      fix: "set rootDir and outDir in tsconfig.json, for example src and dist",
    });
  return join(outDir, path.slice(0, -extname(path).length) + extname(path).replace(/tsx?$/, "js"));
}

/** Without `rootDir` and `outDir` these are `src` and `dist` beside tsconfig.json. */
export function getOutputFolders(
  file: string,
  { rootDir, outDir }: TypeScriptConfig["options"],
): { readonly rootDir: string; readonly outDir: string } {
  return {
    rootDir: typeof rootDir === "string" ? rootDir : join(dirname(file), "src"),
    outDir: typeof outDir === "string" ? outDir : join(dirname(file), "dist"),
  };
}

/** The nearest tsconfig.json of a source; `undefined` where there is none. */
export function readTypeScriptConfig(source: string): TypeScriptConfig | undefined {
  const folder = findUpwards("tsconfig.json", dirname(source));
  if (folder === undefined) return undefined;
  const file = join(folder, "tsconfig.json");
  return readConfig(file);
}

const PATHS = ["rootDir", "outDir"];
const LISTS = ["files", "include", "exclude"];

function readConfig(file: string): TypeScriptConfig {
  const { extends: bases = [], compilerOptions = {}, ...given } = Object(parseConfig(file));
  const inherited = [bases].flat().map((base: unknown) => readConfig(resolveBase(String(base), file)));
  const settings: Record<string, unknown> = { ...compilerOptions };
  for (const name of PATHS)
    if (typeof settings[name] === "string") settings[name] = resolve(dirname(file), settings[name]);
  const lists = LISTS.filter((name) => Array.isArray(given[name])).map((name): [string, readonly string[]] => [
    name,
    given[name].map((path: unknown) => resolve(dirname(file), String(path))),
  ]);
  const options = Object.assign({}, ...inherited.map((each) => each.options), settings);
  const settingFiles = [...inherited.flatMap((each) => each.settingFiles), file];
  return Object.assign({}, ...inherited, Object.fromEntries(lists), { file, settingFiles, options });
}

function resolveBase(base: string, file: string): string {
  if (/^\.{0,2}\//.test(base)) return resolve(dirname(file), base.endsWith(".json") ? base : `${base}.json`);
  try {
    return createRequire(file).resolve(base);
  } catch (cause) {
    throw new CommandError(`tsconfig.json extends ${base}, which is not installed`, {
      where: file,
      fix: "install it",
      cause,
    });
  }
}

function parseConfig(file: string): unknown {
  try {
    return JSON.parse(withoutComments(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new CommandError("tsconfig.json cannot be read", { where: file, fix: "correct its syntax", cause });
  }
}

/** JSON with comments and trailing commas, as JSON. A text in quotes stays as it is. */
function withoutComments(text: string): string {
  const commented = /("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g;
  const trailing = /("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g;
  return text
    .replaceAll(commented, (_, quoted: string | undefined) => quoted ?? "")
    .replaceAll(trailing, (_, quoted: string | undefined) => quoted ?? "");
}
