/**
 * Brings the compiled files of a project up to date: those whose source is newer, by a compiler that takes a file in a fraction of a
 * millisecond. It does not check types, and writes no declarations. A release is compiled by `tsc`.
 *
 * @example
 * const compiler = new SourceCompiler(SourceProject.of("/shop/src/main.ts"));
 * const { faults } = compiler.update();
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { CommandError } from "../command.js";
import type { SourceProject } from "./source-project.js";
import { findOutput, type TypeScriptConfig } from "./typescript-config.js";
import { transform, type CompileFault, type Transformed } from "./transform.js";

export interface Compilation {
  /** The sources whose compiled files were written or removed. None where there is a fault. */
  readonly changed: readonly string[];
  readonly faults: readonly CompileFault[];
}

interface CompiledSource extends Transformed {
  readonly source: string;
  readonly modifiedMs: number;
}

/** A file may change again without a new time of its change: the clock of a file system has steps of some milliseconds. */
const CLOCK_STEP_MS = 50;

export class SourceCompiler {
  private sources: readonly string[] = [];

  constructor(private readonly project: SourceProject) {}

  /**
   * Compiles the changed sources. A fault leaves all compiled files as they were.
   *
   * @throws CommandError where the folder cannot be written
   */
  update(): Compilation {
    const { project } = this;
    const sources = project.listSources();
    const removed = this.sources.filter((source) => !sources.includes(source));
    this.sources = [...sources, ...removed];
    const stale = sources.filter((source) => isStale(source));
    if (stale.length > 0) expectSettings(project.config);
    const outcomes = stale.flatMap((source) => this.compile(source));
    const faults = outcomes.flatMap((outcome) => ("fault" in outcome ? [outcome.fault] : []));
    if (faults.length > 0) return { changed: [], faults };
    const compiled = outcomes.flatMap((outcome) => ("fault" in outcome ? [] : [outcome]));
    for (const each of compiled) this.write(each);
    for (const source of removed) this.remove(source);
    this.sources = sources;
    return { changed: [...compiled.map(({ source }) => source), ...removed], faults };
  }

  /** Empty where the source was removed meanwhile. */
  private compile(source: string): readonly (CompiledSource | { fault: CompileFault })[] {
    // Read before the text: a later change makes the compiled file stale.
    const modifiedMs = findModified(source);
    if (modifiedMs === undefined) return [];
    const text = readFileSync(source, "utf8");
    const outcome = transform({ text, name: this.project.getName(source) }, this.project.config.options);
    return ["fault" in outcome ? outcome : { ...outcome, source, modifiedMs }];
  }

  private write({ source, modifiedMs, code, map }: CompiledSource): void {
    const file = findOutput(source);
    const names = { file: basename(file), sources: [relative(dirname(file), source).replaceAll("\\", "/")] };
    try {
      mkdirSync(dirname(file), { recursive: true });
      replaceFile(`${file}.map`, JSON.stringify({ ...map, ...names }));
      replaceFile(file, `${code}//# sourceMappingURL=${basename(file)}.map\n`);
      const isRecent = Date.now() - modifiedMs < CLOCK_STEP_MS;
      const seconds = (isRecent ? modifiedMs - 1 : Math.ceil(modifiedMs)) / 1000;
      utimesSync(file, seconds, seconds);
    } catch (cause) {
      throw new CommandError(`${this.project.getName(file)} cannot be written: ${toMessage(cause)}`, {
        where: file,
        fix: "make the folder of outDir writable, or compile with tsc beforehand",
        cause,
      });
    }
  }

  private remove(source: string): void {
    const file = findOutput(source);
    for (const each of [file, `${file}.map`]) rmSync(each, { force: true });
  }
}

function isStale(source: string): boolean {
  const compiled = findModified(findOutput(source));
  return compiled === undefined || compiled < (findModified(source) ?? 0);
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

/** A process that imports the file meanwhile reads the old one or the new one. */
function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text);
  renameSync(next, file);
}

/** `undefined` where there is no such file, also where a part of its path is none. */
function findModified(file: string): number | undefined {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}

function toMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
