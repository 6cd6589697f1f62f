/**
 * A program of Node beside the development server that holds nothing back: it runs at a low priority, and a new start ends the run before.
 *
 * @example
 * const program = new BackgroundProgram(() => ({ args: ["check.js"] }), ({ output }) => print(output));
 * await program.start(development.settled());
 */
import { spawn, type ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import { killGroup } from "./process-group.js";

export interface BackgroundCommand {
  /** The program and its arguments. */
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface BackgroundEnd {
  /** What it has printed. */
  readonly output: string;
  readonly isSuccess: boolean;
}

export class BackgroundProgram {
  private running: ChildProcess | undefined;
  /** Grows with each call, so that an older one that waits starts nothing. */
  private calls = 0;

  /** @param onEnd is not called for a run that was stopped */
  constructor(
    private readonly createCommand: () => BackgroundCommand | undefined,
    private readonly onEnd: (end: BackgroundEnd) => void,
  ) {}

  /** @param moment the run waits for it */
  async start(moment: Promise<unknown>): Promise<void> {
    this.stop();
    const { calls } = this;
    await moment;
    if (calls === this.calls) this.run();
  }

  stop(): void {
    const { running } = this;
    this.calls += 1;
    this.running = undefined;
    if (running?.pid !== undefined && running.exitCode === null) killGroup(running.pid);
  }

  private run(): void {
    const command = this.createCommand();
    if (command === undefined) return;
    const { args, ...options } = command;
    const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.running = child;
    lowerPriority(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", () => undefined);
    child.once("close", (code) => {
      if (this.running !== child) return;
      this.running = undefined;
      this.onEnd({ output, isSuccess: code === 0 });
    });
  }
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or the system does not allow it.
  }
}
