/**
 * The files of a project in `outDir`. Each has the time of its source, so that a source that changes while it is compiled is seen; where the
 * settings of the compiler are newer, it has their time.
 *
 * @example
 * const outputs = new OutputFiles(SourceProject.of("/shop/src/main.ts"));
 * outputs.isStale("/shop/src/app.ts");
 */
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, relative } from "node:path";
import { causeText } from "../../errors/thrown-value.js";
import { CommandError } from "../command.js";
import type { SourceProject } from "./source-project.js";
import { getOutputFolders, toOutput } from "./typescript-config.js";
import type { Transformed } from "./transform.js";

export interface CompiledSource extends Transformed {
  readonly source: string;
  readonly modifiedMs: number;
}

/** A file may change again without a new time of its change: the clock of a file system has steps of some milliseconds. */
const CLOCK_STEP_MS = 50;

export class OutputFiles {
  private readonly settingsMs: number;

  constructor(private readonly project: SourceProject) {
    this.settingsMs = Math.max(...project.config.settingFiles.map((file) => findModified(file) ?? 0));
  }

  has(source: string): boolean {
    return this.mayHave(source) && findModified(this.find(source)) !== undefined;
  }

  /** False for a file outside `rootDir`. */
  mayHave(source: string): boolean {
    const { file, options } = this.project.config;
    const path = relative(getOutputFolders(file, options).rootDir, source);
    return !path.startsWith("..") && !isAbsolute(path);
  }

  isStale(source: string): boolean {
    const compiled = findModified(this.find(source));
    return compiled === undefined || compiled < Math.max(findModified(source) ?? 0, this.settingsMs);
  }

  /** @throws CommandError where the folder cannot be written, as `copy` does */
  write({ source, modifiedMs, code, map }: CompiledSource): void {
    const file = this.find(source);
    const names = { file: basename(file), sources: [relative(dirname(file), source).replaceAll("\\", "/")] };
    this.replace(`${file}.map`, (next) => writeFileSync(next, JSON.stringify({ ...map, ...names })));
    this.replace(file, (next) => writeFileSync(next, `${code}//# sourceMappingURL=${basename(file)}.map\n`));
    this.setTime(file, modifiedMs);
  }

  /** Copies a file that is no source. */
  copy(source: string): void {
    const modifiedMs = findModified(source);
    if (modifiedMs === undefined) return;
    const file = this.find(source);
    this.replace(file, (next) => copyFileSync(source, next));
    this.setTime(file, modifiedMs);
  }

  remove(source: string): void {
    const file = this.find(source);
    for (const each of [file, `${file}.map`]) rmSync(each, { force: true });
  }

  private find(source: string): string {
    return toOutput(source, this.project.config);
  }

  /** A process that imports the file meanwhile reads the old one or the new one. */
  private replace(file: string, write: (next: string) => void): void {
    const next = `${file}.${process.pid}`;
    try {
      mkdirSync(dirname(file), { recursive: true });
      write(next);
      renameSync(next, file);
    } catch (cause) {
      throw new CommandError(
        `${this.project.getName(file.replace(/\.map$/u, ""))} cannot be written: ${causeText(cause)}`,
        {
          where: file,
          fix: "make the folder of outDir writable, or compile with tsc beforehand",
          cause,
        },
      );
    }
  }

  private setTime(file: string, modifiedMs: number): void {
    const latestMs = Math.max(modifiedMs, this.settingsMs);
    const isRecent = Date.now() - latestMs < CLOCK_STEP_MS;
    const seconds = (isRecent ? latestMs - 1 : Math.ceil(latestMs)) / 1000;
    utimesSync(file, seconds, seconds);
  }
}

/** `undefined` where there is no such file, also where a part of its path is none. */
export function findModified(file: string): number | undefined {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}
