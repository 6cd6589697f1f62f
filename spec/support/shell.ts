/**
 * Runs commands one after the other, each as `sh -c` would: none changes the folder or the variables of the next. One shell starts them,
 * because this process is large, and the system takes longer to copy it than a small program runs. Disposal ends the shell.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";

export class Shell implements AsyncDisposable {
  private readonly child = spawn("sh", { stdio: ["pipe", "pipe", "ignore"] });
  private readonly closed = once(this.child, "close");
  private readonly parts = this.child.stdout.setEncoding("utf8").iterator();
  /** Ends the output of a command; its exit code follows. */
  private readonly mark = randomUUID();
  private readonly end = new RegExp(`${this.mark} (\\d+)\n$`);

  /** The output of a command of one line. Fails where its exit code is not 0. Call it again only after it has ended. */
  async run(command: string): Promise<string> {
    this.child.stdin.write(`(${command}\n) </dev/null; echo "${this.mark} $?"\n`);
    let output = "";
    for (;;) {
      const { done, value } = await this.parts.next();
      if (done === true) throw new Error(`the shell has ended in: ${command}`);
      output += String(value);
      const [end, code] = this.end.exec(output) ?? [];
      if (end === undefined) continue;
      if (code !== "0") throw new Error(`exit code ${code} of: ${command}`);
      return output.slice(0, -end.length);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end();
    await this.closed;
  }
}
