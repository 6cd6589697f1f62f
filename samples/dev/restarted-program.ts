/**
 * A program that is started anew on demand. The old process gets SIGTERM and finishes its requests; the new one starts when the port is
 * free again. A process that ends by itself stays down until the next restart. For production use a supervisor of the system.
 *
 * @example
 * const program = new RestartedProgram("dist/samples/links/main.js");
 * program.restart();
 * await program.stop();
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export class RestartedProgram {
  private running: ChildProcess | undefined;
  private wanted = 0;
  private started = 0;
  private isStopped = false;
  private turn: Promise<void> = Promise.resolve();

  /** @param environment added to that of this process */
  constructor(
    private readonly file: string,
    private readonly environment: NodeJS.ProcessEnv = {},
  ) {}

  /** Starts the program, or replaces its process. Calls while the old process drains lead to one new process. */
  restart(): void {
    this.wanted++;
    this.turn = this.turn.then(() => this.replace());
  }

  /** Resolves when the process has finished its requests and ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.end();
    await this.turn;
  }

  /** Ends the process without its drain. */
  kill(): void {
    this.running?.kill("SIGKILL");
  }

  private async replace(): Promise<void> {
    if (this.started === this.wanted) return;
    await this.end();
    this.started = this.wanted;
    if (!this.isStopped) this.start();
  }

  /** In a process group of its own, so that Ctrl+C reaches only this process, which sends one signal. */
  private start(): void {
    const env = { ...process.env, ...this.environment };
    const child = spawn(process.execPath, ["--enable-source-maps", this.file], {
      stdio: "inherit",
      detached: true,
      env,
    });
    this.running = child;
    child.once("exit", (code, signal) => {
      if (this.running === child) this.running = undefined;
      if (!child.killed) console.error(`the program ended with ${signal ?? `code ${code}`}; a change starts it again`);
    });
  }

  private async end(): Promise<void> {
    const child = this.running;
    if (child === undefined) return;
    const ended = once(child, "exit");
    if (!child.killed) child.kill("SIGTERM");
    await ended;
  }
}
