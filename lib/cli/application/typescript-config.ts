/**
 * The options of the nearest tsconfig.json that a command needs: where the compiler puts the JavaScript of a source, and how it treats
 * decorators. It reads comments, trailing commas and `extends`.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import { CommandError } from "../command.js";
import { findUpwards } from "./find-upwards.js";

export interface TypeScriptConfig {
  readonly file: string;
  /** The `compilerOptions`, those of `extends` included. Paths are absolute. */
  readonly options: Readonly<Record<string, unknown>>;
}

export function isTypeScript(file: string): boolean {
  return /\.[cm]?tsx?$/.test(file);
}

/** The JavaScript of a source, in `outDir`. Without `rootDir` and `outDir` it is `dist` for `src`. */
export function findOutput(source: string): string {
  const config = readTypeScriptConfig(source);
  const folder = dirname(config?.file ?? source);
  const { rootDir, outDir } = config?.options ?? {};
  const from = typeof rootDir === "string" ? rootDir : join(folder, "src");
  const to = typeof outDir === "string" ? outDir : join(folder, "dist");
  const path = relative(from, source);
  if (path.startsWith("..") || isAbsolute(path))
    throw new CommandError(`${source} is outside rootDir, so that it has no output`, {
      where: config?.file ?? folder,
      fix: "set rootDir and outDir in tsconfig.json, for example src and dist",
    });
  return join(to, path.slice(0, -extname(path).length) + extname(path).replace(/tsx?$/, "js"));
}

/** The nearest tsconfig.json of a source; `undefined` where there is none. */
export function readTypeScriptConfig(source: string): TypeScriptConfig | undefined {
  const folder = findUpwards("tsconfig.json", dirname(source));
  if (folder === undefined) return undefined;
  const file = join(folder, "tsconfig.json");
  return { file, options: readOptions(file) };
}

const PATHS = ["rootDir", "outDir"];

function readOptions(file: string): Readonly<Record<string, unknown>> {
  const { extends: bases = [], compilerOptions = {} } = Object(parseConfig(file));
  const inherited = [bases].flat().map((base: unknown) => readOptions(resolveBase(String(base), file)));
  const given: Record<string, unknown> = { ...compilerOptions };
  for (const name of PATHS) if (typeof given[name] === "string") given[name] = resolve(dirname(file), given[name]);
  return Object.assign({}, ...inherited, given);
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
