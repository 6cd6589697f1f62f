/**
 * The sources of a TypeScript project, as its `tsconfig.json` names them.
 *
 * @example
 * const project = SourceProject.of("/shop/src/app.ts");
 * project.list().sources; // ["/shop/src/app.ts", "/shop/src/main.ts"]
 */
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { CommandError } from "../command.js";
import { getOutputFolders, readTypeScriptConfig, type TypeScriptConfig } from "./typescript-config.js";

const SOURCE = /(?<!\.d)\.(?:tsx?|mts|cts)$/u;

export interface ProjectFiles {
  readonly sources: readonly string[];
  /** The files of JSON beside the sources, imported or not. */
  readonly data: readonly string[];
}

/** Whether a file may be a source, or JSON that a source imports. */
function isProjectFile(path: string): boolean {
  return SOURCE.test(path) || path.endsWith(".json");
}

export class SourceProject {
  /** The folders with sources. */
  readonly folders: readonly string[];
  private readonly included: readonly RegExp[];
  private readonly excluded: readonly RegExp[];

  private constructor(readonly config: TypeScriptConfig) {
    const { file, options, files = [], exclude = [] } = config;
    const include = config.include ?? (files.length > 0 ? [] : [dirname(file)]);
    this.included = [...include, ...files].map(toPattern);
    this.excluded = [...exclude, getOutputFolders(file, options).outDir].map(toPattern);
    this.folders = [...new Set([...include.map(toFolder), ...files.map((each) => dirname(each))])].filter(existsSync);
  }

  /** The project of the nearest `tsconfig.json`. @throws CommandError where there is none */
  static of(source: string): SourceProject {
    const config = readTypeScriptConfig(source);
    if (config !== undefined) return new SourceProject(config);
    throw new CommandError("no folder above the application has a tsconfig.json", {
      where: source,
      fix: "write a tsconfig.json with rootDir and outDir, or name a compiled .js file",
    });
  }

  /** The path from the folder of `tsconfig.json`, for messages. */
  getName(file: string): string {
    return relative(dirname(this.config.file), file);
  }

  /** Whether a file is a source, or a folder may have some. */
  isWatched(path: string): boolean {
    return !this.excluded.some((pattern) => pattern.test(path)) && !/[\\/](?:node_modules|\.[^\\/]*)$/u.test(path);
  }

  /** Whether a change of a file may change what the compiler writes. */
  hasInput(path: string): boolean {
    if (this.config.settingFiles.includes(path)) return true;
    return this.isInside(path) && isProjectFile(path) && this.isWatched(path);
  }

  /** Whether a path is below a folder with sources. */
  isInside(path: string): boolean {
    return this.folders.some((folder) => path.startsWith(folder + sep));
  }

  /** The files as they are now. */
  list(): ProjectFiles {
    const files = [...new Set(this.folders.flatMap((folder) => [...this.filesBelow(folder)]))];
    return {
      sources: files.filter((path) => SOURCE.test(path) && this.included.some((pattern) => pattern.test(path))),
      data: files.filter((path) => path.endsWith(".json")),
    };
  }

  private *filesBelow(folder: string): Generator<string> {
    for (const entry of readFolder(folder)) {
      const path = join(folder, entry.name);
      if (!this.isWatched(path)) continue;
      if (entry.isDirectory()) yield* this.filesBelow(path);
      else if (isProjectFile(path)) yield path;
    }
  }
}

/** A folder may go while its parent is read. */
function readFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The part before the first `*` or `?`. */
function toFolder(pattern: string): string {
  const at = pattern.search(/[*?]/u);
  const fixed = at === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf(sep, at));
  return SOURCE.test(fixed) ? dirname(fixed) : fixed;
}

/** TypeScript's patterns: two stars stand for any number of folders, one star and `?` match no separator, a folder stands for all below it. */
function toPattern(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*[\\/]|\*|\?)/u).map((part) => {
    if (/^\*\*./u.test(part)) return "(?:.*[\\\\/])?";
    if (part === "*") return "[^\\\\/]*";
    return part === "?" ? "[^\\\\/]" : part.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("")}(?:[\\\\/].*)?$`, "u");
}
