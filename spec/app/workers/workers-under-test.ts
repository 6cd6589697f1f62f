/** The program of workers-program.ts as a process, with what the specs ask of it. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { Child } from "../../support/child.js";
import { until } from "../../support/until.js";

const PROGRAM = "../app/workers/workers-program.js";

interface Response {
  readonly status: number;
  readonly text: string;
  readonly closes: boolean;
}

export class WorkersUnderTest implements AsyncDisposable {
  private constructor(readonly parent: Child) {}

  /** Resolves when `workers` workers are ready. */
  static async start(workers: number, environment: NodeJS.ProcessEnv = {}): Promise<WorkersUnderTest> {
    const started = await WorkersUnderTest.spawn(workers, environment);
    await started.areReady(workers);
    return started;
  }

  /** Does not wait. */
  static async spawn(
    workers: number,
    environment: NodeJS.ProcessEnv = {},
    program = PROGRAM,
  ): Promise<WorkersUnderTest> {
    return new WorkersUnderTest(await Child.start(program, { WORKERS: String(workers), ...environment }));
  }

  /** Waits until so many workers have become ready since the start. */
  async areReady(count: number): Promise<void> {
    await this.says("worker ready", count);
  }

  /** Waits until the log has `text` so many times. */
  async says(text: string, times = 1): Promise<void> {
    await until(
      () => this.log.split(text).length > times,
      () => this.log,
    );
  }

  get log(): string {
    return this.parent.output + this.parent.errors;
  }

  /** Of the children of the parent. */
  listPids(): readonly number[] {
    const pid = String(this.parent.pid);
    const file = `/proc/${pid}/task/${pid}/children`;
    return existsSync(file) ? readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number) : [];
  }

  /** Without `agent` on a new connection. Rejects if the connection ends without a response. */
  async ask(path: string, agent: http.Agent | false = false): Promise<Response> {
    const request = http.get({ host: "127.0.0.1", port: this.parent.port, path, agent });
    // The arguments of the event, by Node's documentation.
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let text = "";
    for await (const part of response.setEncoding("utf8")) text += String(part);
    return { status: response.statusCode ?? 0, text, closes: response.headers.connection === "close" };
  }

  /** The process ids of the workers that respond. */
  async serving(count: number): Promise<ReadonlySet<number>> {
    const pids = new Set<number>();
    await until(async () => pids.add(Number((await this.ask("/pid")).text)).size >= count);
    return pids;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pids = this.listPids();
    await this.parent[Symbol.asyncDispose]();
    // A stopped process does not see that its parent has ended.
    for (const pid of pids) kill(pid, "SIGKILL");
    await until(() => pids.every((pid) => !isAlive(pid)));
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** A process without a parent that has ended is a zombie for a moment. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // It has ended.
    return false;
  }
}
