/**
 * Checks the types of the application beside its development server, by the compiler that the application has installed. It waits for the
 * start of the next process.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { BackgroundProgram, type BackgroundCommand } from "./background-program.js";

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
  private readonly program = new BackgroundProgram(
    () => this.createCommand(),
    ({ output }) => this.report(output),
  );
  private hadErrors = false;

  constructor(private readonly project: CheckedProject) {}

  /** Without TypeScript there is no check. @param moment the check waits for it, for two seconds at most */
  start(moment: Promise<unknown>): Promise<void> {
    return this.program.start(Promise.race([moment, setTimeout(MAX_WAIT_MS, undefined, { ref: false })]));
  }

  stop(): void {
    this.program.stop();
  }

  private createCommand(): BackgroundCommand | undefined {
    const { file, memory } = this.project;
    const compiler = findCompiler(file);
    if (compiler === undefined) return undefined;
    return { args: [compiler, "-p", file, "--noEmit", "--incremental", "--tsBuildInfoFile", memory] };
  }

  private report(output: string): void {
    const hasErrors = output.trim() !== "";
    if (hasErrors) this.project.print(`${output.trimEnd()}\nthe types have errors, which hold nothing back\n`);
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
