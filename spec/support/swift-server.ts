/**
 * OpenStack Swift with its S3 interface: an S3 service whose signature check and semantics are the code of others. Debian has it. One
 * process and one folder; it takes two seconds to start, so a spec file shares one.
 *
 * @example
 * before(needs("swift-proxy-server"));
 * before(async () => { server = await SwiftServer.start(); });
 * after(() => server[Symbol.asyncDispose]());
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./sources.js";

/** Debian's Python, which has Debian's packages. */
const PYTHON = "/usr/bin/python3";
const PROGRAM = join(ROOT, "spec/support/s3_swift.py");
const READY = /^ready (\d+)$/;

export class SwiftServer implements AsyncDisposable {
  /** Swift's access keys have this form. */
  static readonly credentials = { accessKeyId: "spec:writer", secretAccessKey: "the-key-of-the-specs" };

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  /** @throws Error with the output of the service, if it ends before it is ready */
  static async start(): Promise<SwiftServer> {
    const folder = mkdtempSync(join(tmpdir(), "swift-"));
    const { accessKeyId, secretAccessKey } = SwiftServer.credentials;
    const child = spawn(PYTHON, [PROGRAM, folder, accessKeyId, secretAccessKey], { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    for await (const line of createInterface({ input: child.stdout })) {
      const port = READY.exec(line)?.[1];
      if (port !== undefined) return new SwiftServer(child, folder, `http://127.0.0.1:${port}`);
    }
    rmSync(folder, { recursive: true });
    throw new Error(`Swift has ended: ${errors}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
    rmSync(this.folder, { recursive: true });
  }
}
