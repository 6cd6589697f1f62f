/**
 * One process of the application during development. It listens on any free port of the loopback, reports when it is ready, and ends with its standard
 * input.
 *
 * @example
 * const child = new ApplicationProcess({ file: "dist/main.js", cwd, env, print });
 * if (await child.ready) forwardTo(child.port);
 */
import { spawn, type ChildProcess } from "node:child_process";
import { killGroup } from "./process-group.js";

const PRELOAD = new URL("application-preload.js", import.meta.url).href;

/** From the request to stop until the process is killed. */
const GRACE_MS = 2000;

/** For the last bytes of standard error. A process that the application started may keep it open. */
const OUTPUT_MS = 200;

/** The end of standard error that a report shows. */
const MAX_SHOWN = 16_384;

export interface ApplicationProgram {
  /** The compiled program. */
  readonly file: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives standard error. */
  readonly print: (text: string) => void;
}

export class ApplicationProcess {
  /** False if the process ends before. */
  readonly ready: Promise<boolean>;
  /** How the process ended: `code 1` or `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** The port on 127.0.0.1; 0 before the process is ready. */
  port = 0;
  /** The last part of standard error. */
  errors = "";
  private readonly child: ChildProcess;
  private hasEnded = false;

  constructor({ file, cwd, env, print }: ApplicationProgram) {
    // In another process group: Ctrl-C in a terminal reaches the development server alone, which stops its processes in order.
    this.child = spawn(process.execPath, ["--enable-source-maps", "--import", PRELOAD, file], {
      cwd,
      env: { ...env, NODE_ENV: "development", FRAMEWORK_APP_IPC: "127.0.0.1:0" },
      stdio: ["pipe", "inherit", "pipe", "ipc"],
      detached: true,
    });
    this.child.stdin?.on("error", () => undefined);
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.errors = (this.errors + text).slice(-MAX_SHOWN);
      print(text);
    });
    this.ended = new Promise((resolve) => {
      this.child.once("error", (error) => resolve(error.message));
      this.child.once("exit", (code, signal) => {
        const how = signal === null ? `code ${code ?? 0}` : `signal ${signal}`;
        this.child.once("close", () => resolve(how));
        setTimeout(() => resolve(how), OUTPUT_MS);
      });
    });
    this.child.once("exit", () => (this.hasEnded = true));
    this.ready = Promise.race([this.hearReady(), this.ended.then(() => false)]);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isReady(): boolean {
    return this.port !== 0;
  }

  /** Lets a process that serves finish its requests, for two seconds. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const timer = setTimeout(() => this.kill(), GRACE_MS);
    // The end of the input drains without the delay of a signal, but only a process that serves reads its input.
    this.child.stdin?.end();
    if (!this.isReady) this.child.kill("SIGTERM");
    await this.ended;
    clearTimeout(timer);
  }

  /** With all processes that it has started. */
  kill(): void {
    if (this.child.pid !== undefined && !this.hasEnded) killGroup(this.child.pid);
  }

  private hearReady(): Promise<boolean> {
    return new Promise((resolve) => {
      this.child.on("message", (message: unknown) => {
        const { ready } = (message ?? {}) as { readonly ready?: unknown };
        const [, port] = /:(\d+)$/u.exec(String(ready)) ?? [];
        if (port === undefined) return;
        this.port = Number(port);
        resolve(true);
      });
    });
  }
}
