/**
 * Checks the types of the application beside its development server, by the compiler that the application has installed. It holds nothing
 * back: it waits for the start of the next process, runs at a low priority, and a new check ends the one that runs.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { killGroup } from "./process-group.js";

export interface CheckedProject {
  /** The `tsconfig.json`. */
  readonly file: string;
  /** A file in which the compiler keeps what it knows, so that the next check is shorter. */
  readonly memory: string;
  readonly print: (text: string) => void;
}

/** A process may hang while it starts. */
const MAX_WAIT_MS = 2000;

export class TypeCheck {
  private running: ChildProcess | undefined;
  private hadErrors = false;
  /** Grows with each call, so that an older one that waits starts nothing. */
  private calls = 0;

  constructor(private readonly project: CheckedProject) {}

  /** Without TypeScript there is no check. @param moment the check waits for it, for two seconds at most */
  async start(moment: Promise<unknown>): Promise<void> {
    this.stop();
    const { calls } = this;
    await Promise.race([moment, setTimeout(MAX_WAIT_MS, undefined, { ref: false })]);
    if (calls === this.calls) this.run();
  }

  stop(): void {
    const { running } = this;
    this.calls += 1;
    this.running = undefined;
    if (running?.pid !== undefined && running.exitCode === null) killGroup(running.pid);
  }

  private run(): void {
    const compiler = findCompiler(this.project.file);
    if (compiler === undefined) return;
    const { file, memory } = this.project;
    const args = [compiler, "-p", file, "--noEmit", "--incremental", "--tsBuildInfoFile", memory];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.running = child;
    lowerPriority(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", () => undefined);
    child.once("close", () => {
      if (this.running === child) this.report(output);
    });
  }

  private report(output: string): void {
    this.running = undefined;
    const hasErrors = output.trim() !== "";
    if (hasErrors)
      this.project.print(`${output.trimEnd()}\nthe types have errors; the application runs nevertheless\n`);
    else if (this.hadErrors) this.project.print("the types have no errors\n");
    this.hadErrors = hasErrors;
  }
}

function findCompiler(tsconfig: string): string | undefined {
  try {
    return join(dirname(createRequire(tsconfig).resolve("typescript/package.json")), "bin/tsc");
  } catch {
    return undefined;
  }
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or the system does not allow it.
  }
}
