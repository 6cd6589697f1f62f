/** The collector of otel.ts as a process, which reports the number of its spans. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pinned, ROOT } from "./places.js";

const OTHER_CORE = 1;

export class OtelCollector {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly endpoint: string,
  ) {}

  static async start(): Promise<OtelCollector> {
    const [command, args] = pinned(OTHER_CORE, process.execPath, [
      join(ROOT, "dist/spec/tools/bench/otel-collector.js"),
    ]);
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return new OtelCollector(child, lines, `http://127.0.0.1:${/^ready (\d+)$/.exec(String(value))?.[1]}`);
  }

  /** The number of spans so far. */
  async count(): Promise<number> {
    this.child.stdin?.write("\n");
    const { value } = await this.lines.next();
    return Number(/^spans (\d+)$/.exec(String(value))?.[1]);
  }

  stop(): void {
    this.child.kill("SIGKILL");
  }
}
