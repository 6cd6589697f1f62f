/** `stagecraft jobs work` as a process in the folder of an application. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { type ApplicationFolder, BIN } from "../../support/application-folder.js";
import { ended, type Ended } from "../../support/program.js";
import { until } from "../../support/until.js";

/** It is killed at the end of the test. */
export class Worker implements AsyncDisposable {
  stdout = "";
  stderr = "";
  readonly ended: Promise<Pick<Ended, "code" | "signal">>;
  private readonly child: ChildProcessByStdio<null, Readable, Readable>;

  constructor(folder: ApplicationFolder, ...args: readonly string[]) {
    const { RUST_LOG: _, NODE_ENV: __, ...env } = process.env;
    this.child = spawn(process.execPath, [BIN, "jobs", "work", ...args], {
      cwd: folder.path,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = ended(this.child);
  }

  async says(text: string): Promise<void> {
    await until(
      () => `${this.stdout}${this.stderr}`.includes(text),
      () => `${this.stdout}${this.stderr}`,
    );
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    await this.ended;
  }
}
