/**
 * A database server in a child process, with its data in a temporary folder. A test can kill, pause and restart it on the same port;
 * disposal kills it and removes the folder, and so does the end of this process.
 *
 * The empty data folder takes seconds to make, so the first start on a machine makes one, and every server gets a copy.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signalProcess, stopProcesses } from "./stop-process.js";

/** Only for the message: a test has its own limit. A busy machine starts a process slowly. */
const START_LIMIT_MS = 50_000;

export interface ServerTemplate {
  /** In the name of the template folder: program and version. */
  readonly template: string;
  /** The user of the server, which refuses to run as root. */
  readonly user: string;
  /** Fills the folder, which the user owns. */
  makeTemplate(folder: string): void;
}

export interface ServerProgram extends ServerTemplate {
  readonly program: string;
  arguments(folder: string): readonly string[];
  /** Resolves if the server answers. */
  connects(): Promise<void>;
  /** Ends the server and its children at once. */
  readonly killSignal: NodeJS.Signals;
}

export class ServerProcess implements AsyncDisposable {
  private child: ChildProcess | undefined = undefined;
  private readonly folder: string;
  private readonly atExit = (): void => this.remove();

  constructor(private readonly server: ServerProgram) {
    const parent = mkdtempSync(join(tmpdir(), "framework-server-"));
    own(server.user, parent);
    this.folder = join(parent, "data");
    copyOwned(templateOf(server), this.folder);
    process.once("exit", this.atExit);
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  async start(): Promise<void> {
    const { server, folder } = this;
    const child = spawn(server.program, server.arguments(folder), {
      stdio: "pipe",
      cwd: folder,
      ...idsOf(server.user),
    });
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-2000)));
    child.stdout?.resume();
    this.child = child;
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const failure = await server.connects().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      if (!this.isRunning || performance.now() > deadline)
        throw new Error(`${server.program} does not answer: ${errors}`, { cause: failure });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends the process and its connections without a goodbye. The data stay. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.isRunning) return;
    const exited = new Promise((resolve) => child.once("close", resolve));
    this.resume();
    child.kill(this.server.killSignal);
    await exited;
  }

  /** The connections stay open without an answer. */
  pause(): void {
    stopProcesses(this.processes());
  }

  resume(): void {
    for (const pid of this.processes()) signalProcess(pid, "SIGCONT");
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    process.off("exit", this.atExit);
    this.remove();
  }

  /** The server and its children, which are in groups of their own. */
  private processes(): readonly number[] {
    const pid = this.child?.pid;
    if (pid === undefined || !this.isRunning) return [];
    const children = `/proc/${pid}/task/${pid}/children`;
    const found = existsSync(children) ? readFileSync(children, "utf8").split(" ").filter(Boolean).map(Number) : [];
    return [pid, ...found];
  }

  private remove(): void {
    if (this.isRunning) {
      this.resume();
      this.child?.kill(this.server.killSignal);
    }
    rmSync(join(this.folder, ".."), { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Each look starts two processes, and a process with many loaded files starts others slowly. */
const known = new Map<string, Ids>();

/** Empty where this process is not root: then the server runs as the user of this process. */
export function idsOf(user: string): Ids | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  const ids = known.get(user) ?? { uid: id("-u"), gid: id("-g") };
  known.set(user, ids);
  return ids;
}

/** Gives an empty folder to the user. */
function own(user: string, folder: string): void {
  const { uid, gid } = idsOf(user);
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}

/** Keeps the owner, unlike `cpSync`. */
function copyOwned(from: string, to: string): void {
  if (process.platform === "linux") execFileSync("cp", ["-a", from, to]);
  else cpSync(from, to, { recursive: true });
}

/** One process makes the template, and the others wait for it. */
export function templateOf(server: ServerTemplate): string {
  const template = join(tmpdir(), `framework-template-${server.template}-${process.getuid?.() ?? 0}`);
  if (!existsSync(template)) inOneProcess(`${template}.lock`, () => makeTemplate(server, template));
  return template;
}

function makeTemplate(server: ServerTemplate, template: string): void {
  if (existsSync(template)) return;
  const made = mkdtempSync(join(tmpdir(), "framework-template-"));
  try {
    own(server.user, made);
    server.makeTemplate(made);
    // Two processes may have taken the lock of a dead one: then the first template stays.
    if (!existsSync(template)) renameSync(made, template);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

const SLEEP_MS = 50;
const EMPTY_LOCK_MS = 5000;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** The lock is a file that holds the process. A process that was killed leaves it, and the next one removes it. */
function inOneProcess(lock: string, work: () => void): void {
  while (!take(lock)) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else Atomics.wait(sleeping, 0, 0, SLEEP_MS);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** An empty lock is that of a process which has not written it yet, unless it stays empty. */
function isAbandoned(lock: string): boolean {
  try {
    const holder = readFileSync(lock, "utf8");
    return holder === "" ? Date.now() - statSync(lock).mtimeMs > EMPTY_LOCK_MS : !isAlive(Number(holder));
  } catch {
    // Its holder has removed it.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
