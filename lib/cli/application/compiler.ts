/**
 * Brings the compiled files of a project up to date: those whose source is newer, by a compiler that takes a file in a fraction of a
 * millisecond. It does not check types, and writes no declarations. JSON that a source imports is copied, as `tsc` does. A release is compiled
 * by `tsc`.
 *
 * @example
 * const compiler = new SourceCompiler();
 * const { faults } = compiler.update(SourceProject.of("/shop/src/main.ts"));
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../command.js";
import type { SourceProject } from "./source-project.js";
import type { TypeScriptConfig } from "./typescript-config.js";
import { findModified, OutputFiles, type CompiledSource } from "./output-files.js";
import { transform, type CompileFault } from "./transform.js";

export interface Compilation {
  /** The sources whose compiled files were written or removed, and the copied files. None where there is a fault. */
  readonly changed: readonly string[];
  readonly faults: readonly CompileFault[];
}

const JSON_IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+\.json)["']/gu;

export class SourceCompiler {
  /** The sources of the last compilation, and when each was changed: another command may have compiled a later change meanwhile. */
  private times: ReadonlyMap<string, number | undefined> = new Map();
  /** The imported files of JSON that are known. */
  private readonly imported = new Set<string>();

  /**
   * Compiles the changed sources, and all of them after a change of `tsconfig.json`. A fault leaves all compiled files as they were.
   *
   * @throws CommandError where the folder cannot be written
   */
  update(project: SourceProject): Compilation {
    const { sources, data } = project.list();
    const outputs = new OutputFiles(project);
    const times = new Map(sources.map((source) => [source, findModified(source)]));
    const removed = [...this.times.keys()].filter((source) => !times.has(source));
    const hasChanged = (source: string) => this.times.has(source) && this.times.get(source) !== times.get(source);
    const stale = sources.filter((source) => outputs.isStale(source) || hasChanged(source));
    if (stale.length > 0) expectSettings(project.config);
    const outcomes = stale.flatMap((source) => compile(source, project));
    const faults = outcomes.flatMap((outcome) => ("fault" in outcome ? [outcome.fault] : []));
    if (faults.length > 0) return { changed: [], faults };
    const compiled = outcomes.flatMap((outcome) => ("fault" in outcome ? [] : [outcome]));
    for (const each of compiled) outputs.write(each);
    for (const source of removed) outputs.remove(source);
    this.times = times;
    for (const { source, code } of compiled) for (const path of findImports(source, code)) this.imported.add(path);
    const copied = this.listImported(data, outputs).filter((path) => outputs.isStale(path));
    for (const path of copied) outputs.copy(path);
    return { changed: [...compiled.map(({ source }) => source), ...removed, ...copied], faults };
  }

  /** JSON that has a copy is imported by a source that is compiled already. */
  private listImported(data: readonly string[], outputs: OutputFiles): readonly string[] {
    const known = [...this.imported].filter((path) => outputs.mayHave(path) && existsSync(path));
    return [...new Set([...known, ...data.filter((path) => outputs.has(path))])];
  }
}

/** Empty where the source was removed meanwhile. */
function compile(source: string, project: SourceProject): readonly (CompiledSource | { fault: CompileFault })[] {
  // Read before the text: a later change makes the compiled file stale.
  const modifiedMs = findModified(source);
  if (modifiedMs === undefined) return [];
  const text = readFileSync(source, "utf8");
  const outcome = transform({ text, name: project.getName(source) }, project.config.options);
  return ["fault" in outcome ? outcome : { ...outcome, source, modifiedMs }];
}

/** The imports of JSON by a path. A text that looks like one names a file that exists, or none. */
function findImports(source: string, code: string): readonly string[] {
  return [...code.matchAll(JSON_IMPORT)].map(([, path = ""]) => join(dirname(source), path)).filter(existsSync);
}

/** One file at a time, a compiler cannot follow types to other files, and it knows one kind of decorators. */
function expectSettings({ file, options }: TypeScriptConfig): void {
  const isIsolated = options["isolatedModules"] === true || options["verbatimModuleSyntax"] === true;
  const missing = isIsolated ? "experimentalDecorators" : "verbatimModuleSyntax";
  if (isIsolated && options[missing] === true) return;
  throw new CommandError(`tsconfig.json does not set ${missing}, which the compiler of the command needs`, {
    where: file,
    fix: `add "${missing}": true to its compilerOptions, or compile with tsc beforehand`,
  });
}
