/**
 * A Redis server of a spec's own: on a free port, keeping nothing, ended with the spec. It can be halted, killed and started again
 * in the middle, always on the same port.
 *
 * Where `redis-server` is not installed, `needRedis` marks the tests as pending, and fails them under `CI=true`.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { freePort } from "./free-port.js";

const PATIENCE_MS = 5000;

export class RedisServer implements AsyncDisposable {
  private constructor(
    readonly port: number,
    private child: ChildProcess,
  ) {}

  static get isInstalled(): boolean {
    return spawnSync("redis-server", ["--version"]).error === undefined;
  }

  static async start(): Promise<RedisServer> {
    const port = await freePort();
    return new RedisServer(port, await launch(port));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** It keeps its connections and answers nothing any more. */
  halt(): void {
    this.child.kill("SIGSTOP");
  }

  resume(): void {
    this.child.kill("SIGCONT");
  }

  /** It is gone from one moment to the next, with everything it kept. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await exited;
  }

  async restart(): Promise<void> {
    await this.kill();
    this.child = await launch(this.port);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** Skips, or fails in CI, where there is no Redis to test with; to be called in a `before` hook. */
export function needRedis(context: Mocha.Context): void {
  if (RedisServer.isInstalled) return;
  if (process.env["CI"] === "true")
    throw new Error("redis-server is not on the PATH; install it (Debian: redis-server)");
  context.skip();
}

async function launch(port: number): Promise<ChildProcess> {
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn("redis-server", settings, { stdio: "ignore" });
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`redis-server did not listen on port ${port} in time`);
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
