/** A program in a child process. Disposal kills it at the end of the test. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.js";
import { stopProcesses } from "./stop-process.js";

/** Only for the message: a test has its own limit. A busy machine starts a process slowly. */
const LIMIT_MS = 50_000;

/** The port may belong to a program that accepts a connection and never responds. */
const ASK_LIMIT_MS = 5_000;

/** A request over HTTP costs both processes more than a read of the output. */
const ASK_EVERY = 10;

/** The port and the working directory; the defaults are a free port and the directory of this process. */
export interface ChildOptions {
  readonly port?: number;
  readonly cwd?: string;
  /** The largest size of a file that the program can write, in blocks of 512 bytes: a write beyond it fails as on a full disk. */
  readonly fileBlocks?: number;
}

export class Child implements AsyncDisposable {
  output = "";
  errors = "";
  private isClosed = false;
  private readonly exited: Promise<readonly [number | null, NodeJS.Signals | null]>;

  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {
    process.stdout?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    process.stderr?.setEncoding("utf8").on("data", (text: string) => (this.errors += text));
    process.once("close", () => (this.isClosed = true));
    // The event's arguments, by Node's documentation.
    this.exited = once(process, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  }

  /** @param file the compiled program, relative to the folder of this file */
  static async start(
    file: string,
    environment: NodeJS.ProcessEnv = {},
    { port, cwd, fileBlocks }: ChildOptions = {},
  ): Promise<Child> {
    const chosen = port ?? (await freePort());
    const { NODE_ENV: _mode, ...inherited } = process.env;
    const env = { ...inherited, PORT: String(chosen), ...environment };
    const program = fileURLToPath(new URL(file, import.meta.url));
    const [command, args] =
      fileBlocks === undefined
        ? [process.execPath, [program]]
        : ["sh", ["-c", `ulimit -f ${fileBlocks}; exec "$0" "$@"`, process.execPath, program]];
    return new Child(spawn(command, args, { env, cwd, stdio: "pipe" }), chosen);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** The resident memory of the process; 0 on a system without `/proc`. */
  residentMiB(): number {
    const file = `/proc/${String(this.process.pid)}/status`;
    return existsSync(file) ? Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(file, "utf8"))?.[1]) / 1024 : 0;
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === "SIGSTOP" && this.pid !== undefined) stopProcesses([this.pid]);
    else this.process.kill(signal);
  }

  endInput(): void {
    this.process.stdin?.end();
  }

  /** Waits until the output contains `text`. */
  async says(text: string, where: "output" | "errors" = "output"): Promise<void> {
    await this.until(() => this[where].includes(text), `did not say ${JSON.stringify(text)}`);
  }

  /** Waits until standard error contains "listening", or the readiness probe responds. */
  async serves(): Promise<void> {
    let checks = 0;
    const asks = (): boolean | Promise<boolean> => ++checks % ASK_EVERY === 0 && this.isReady();
    await this.until(() => this.errors.includes("listening") || asks(), "does not serve");
  }

  async exitCode(): Promise<number | null> {
    const [code] = await this.exited;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  private isReady(): Promise<boolean> {
    return fetch(`${this.url}/up/ready`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  private async until(holds: () => boolean | Promise<boolean>, failure: string): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    while (!(await holds())) {
      const isOver = (this.isClosed && !(await holds())) || performance.now() > deadline;
      if (isOver) throw new Error(`${failure}; output: ${this.output}; errors: ${this.errors}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
}
