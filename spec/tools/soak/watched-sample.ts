/** `samples/links` in a release build as a process, with its log in a file, and access to its memory and its metrics. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "../bench/places.js";
import type { Memory } from "./memory-witness.js";

const MAIN = join(ROOT, "dist/samples/links/main.js");
const WITNESS = join(ROOT, "dist/spec/tools/soak/memory-witness.js");

const PATIENCE_MS = 60_000;

export class WatchedSample implements AsyncDisposable {
  private readonly exited: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {
    this.exited = once(child, "exit");
  }

  /** @param logFile the file of its standard error, as with `2>logFile` */
  static async start(logFile: string): Promise<WatchedSample> {
    const port = await freePort();
    const environment = {
      DATABASE_FILE: ":memory:",
      NODE_ENV: "production",
      SESSION_KEY: "5a".repeat(64),
      PORT: String(port),
      REQUESTS_PER_SECOND: "1000000",
    };
    const log = openSync(logFile, "w");
    const child = spawn(process.execPath, ["--expose-gc", "--import", WITNESS, MAIN], {
      env: { ...process.env, ...environment, RUST_LOG: "" },
      stdio: ["ignore", "ignore", log, "ipc"],
    });
    closeSync(log);
    const sample = new WatchedSample(child, port);
    try {
      await sample.ready();
    } catch (error) {
      await sample.kill();
      throw error;
    }
    return sample;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The log, for an error with its cause there. */
  get outcome(): string {
    const { exitCode, signalCode } = this.child;
    return exitCode === null && signalCode === null
      ? "the sample is alive"
      : `the sample ended: ${exitCode ?? signalCode}`;
  }

  async memory(): Promise<Memory> {
    this.child.send("memory");
    // memory-witness.ts sends this argument of the event.
    const [memory] = (await once(this.child, "message")) as [Memory];
    return memory;
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.url}/metrics`)).text();
  }

  /** Kills it: unwritten output is lost. */
  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  private async ready(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await this.isReady())) {
      if (this.child.exitCode !== null) throw new Error(`the sample ended with code ${this.child.exitCode}`);
      if (performance.now() > deadline) throw new Error(`the sample is not ready after ${PATIENCE_MS} ms`);
      await pause(10);
    }
  }

  private async isReady(): Promise<boolean> {
    return fetch(`${this.url}/up/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
