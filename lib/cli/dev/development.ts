/**
 * The processes of an application during development. After a change the next process starts while the old one serves, and takes over when
 * it is ready. A fault of the compiler and a start that fails leave the old one.
 *
 * @example
 * const development = new Development({ compile, state, start: () => new ApplicationProcess(program), print, readEnvironment });
 * development.update();
 * await development.stop();
 */
import type { Compilation } from "../application/compiler.js";
import { formatFault } from "../application/transform.js";
import { CommandError } from "../command.js";
import type { ApplicationProcess } from "./application-process.js";
import type { DevelopmentState } from "./development-state.js";
import { createFailure, type DevelopmentFailure } from "./failure.js";

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export interface DevelopmentProcesses {
  /** Compiles the changed sources. */
  readonly compile: () => Compilation;
  readonly state: DevelopmentState;
  readonly start: (env: ProcessEnvironment) => ApplicationProcess;
  readonly print: (text: string) => void;
  /** The environment of the next process. Its secrets are in no report. */
  readonly readEnvironment: () => ProcessEnvironment;
}

export class Development {
  /** All processes that have not ended, and among them the one that serves and the one with the newest code. */
  private readonly running = new Set<ApplicationProcess>();
  private serving: ApplicationProcess | undefined;
  private newest: ApplicationProcess | undefined;
  /** Why the newest sources are not compiled. */
  private fault: DevelopmentFailure | undefined;
  private env: ProcessEnvironment = {};
  private isStopped = false;

  constructor(private readonly parts: DevelopmentProcesses) {}

  /**
   * Compiles the changed sources, and starts a process where some were changed. Returns whether there was a change or a fault.
   *
   * @param changedFiles the number of other files that have changed and that a process reads while it starts
   */
  update(changedFiles = 0): boolean {
    if (this.isStopped) return false;
    const { fault } = this;
    const changes = this.compile() + changedFiles;
    if (this.fault !== undefined) this.publish(this.fault);
    else if (changes > 0 || fault !== undefined || this.newest === undefined) {
      if (this.newest !== undefined) this.parts.print(`changed: ${changes}; the next process starts\n`);
      this.startNext();
    } else return false;
    return true;
  }

  /** Resolves when the process of the newest code is ready, or has ended. */
  async settled(): Promise<void> {
    const { newest } = this;
    if (newest !== undefined) await Promise.race([newest.ready, newest.ended]);
  }

  /** Resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.running].map((process) => process.stop()));
  }

  /** Ends all processes at once. */
  kill(): void {
    for (const process of this.running) process.kill();
  }

  /** Returns the number of changed files. */
  private compile(): number {
    const { compile, print } = this.parts;
    let text: string;
    try {
      this.env = this.parts.readEnvironment();
      const { changed, faults } = compile();
      text = faults.map(formatFault).join("\n\n");
      this.fault = undefined;
      if (faults.length === 0) return changed.length;
    } catch (error) {
      text = describe(error);
    }
    print(`${text}\n`);
    this.fault = createFailure("The application does not compile", text, this.env);
    return 0;
  }

  private startNext(): void {
    if (this.newest !== this.serving) void this.newest?.stop();
    const next = this.parts.start(this.env);
    this.newest = next;
    this.running.add(next);
    void next.ready.then((isReady) => isReady && this.takeOver(next));
    void next.ended.then((how) => this.ended(next, how));
  }

  private takeOver(next: ApplicationProcess): void {
    if (this.newest !== next || this.isStopped) return;
    const old = this.serving;
    this.serving = next;
    this.publish(this.fault);
    void old?.stop();
  }

  private ended(process: ApplicationProcess, how: string): void {
    const { print, state } = this.parts;
    this.running.delete(process);
    const wasServing = this.serving === process;
    if (wasServing) this.serving = undefined;
    if (this.isStopped) return;
    if (this.newest === process) {
      this.newest = undefined;
      const what = `The application ${process.isReady ? "ended" : "did not start"}: its process ended with ${how}`;
      print(`${what}. A change starts it again.\n`);
      this.publish(this.fault ?? createFailure(what, process.errors, this.env));
    } else {
      if (process.isReady && how !== "code 0") print(`The older process ended with ${how}.\n`);
      if (wasServing) this.publish(state.failure);
    }
  }

  private publish(failure: DevelopmentFailure | undefined): void {
    this.parts.state.change({ port: this.serving?.port, failure });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CommandError && error.fix !== undefined
    ? `${error.message}\n  fix: ${error.fix}`
    : error.message;
}
