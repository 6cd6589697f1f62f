/**
 * A Redis server for one spec, on a free port and without persistence. A test can halt, kill and restart it on the same port; disposal
 * kills it.
 *
 * Without `redis-server`, `needRedis` makes the tests pending; with `CI=true` it fails them.
 */
import { once } from "node:events";
import { spawn, type ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { freePort } from "./free-port.js";
import { locate } from "./machine.js";
import { stopProcesses } from "./stop-process.js";

const START_LIMIT_MS = 50_000;
const PAUSE_MS = 5;

export class RedisServer implements AsyncDisposable {
  private constructor(
    readonly port: number,
    private child: ChildProcess,
    private readonly settings: readonly string[],
  ) {}

  static get isInstalled(): boolean {
    return locate("redis-server") !== undefined;
  }

  /** @param settings further arguments of the program */
  static async start(settings: readonly string[] = []): Promise<RedisServer> {
    const port = await freePort();
    return new RedisServer(port, await launch(port, settings), settings);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Stops the process. Its connections stay open without a response. */
  halt(): void {
    if (this.child.pid !== undefined) stopProcesses([this.child.pid]);
  }

  resume(): void {
    this.child.kill("SIGCONT");
  }

  /** Kills the process. Its data and its connections are lost. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await exited;
  }

  /** Removes all data. */
  async clear(): Promise<void> {
    const socket = connect({ port: this.port, host: "127.0.0.1" });
    const reply = once(socket, "data");
    socket.write("FLUSHALL\r\n");
    await reply;
    socket.destroy();
  }

  async restart(): Promise<void> {
    await this.kill();
    this.child = await launch(this.port, this.settings);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** Call it in a `before` hook. */
export function needRedis(context: Mocha.Context): void {
  if (RedisServer.isInstalled) return;
  if (process.env["CI"] === "true")
    throw new Error("redis-server is not on the PATH; install it (Debian: redis-server)");
  context.skip();
}

async function launch(port: number, more: readonly string[]): Promise<ChildProcess> {
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...more];
  const child = spawn("redis-server", settings, { stdio: "ignore" });
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`redis-server did not listen on port ${port} in time`);
    // Without the pause this process takes a processor from the server that it waits for.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return child;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (accepted: boolean): void => {
      socket.destroy();
      setImmediate(resolve, accepted);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}
