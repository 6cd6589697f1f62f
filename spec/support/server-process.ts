/**
 * A database server in a child process, with its data in a temporary folder, in memory if there is room. A test can kill, pause and restart it on the same port;
 * disposal kills it and removes the folder. The end of this process does the same, also an end by a signal: a shell waits for it.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyTemplate, idsOf, own, type ServerTemplate } from "./server-template.js";
import { signalProcess, stopProcesses } from "./stop-process.js";

/** Only for the message: a test has its own limit. A busy machine starts a process slowly. */
const START_LIMIT_MS = 50_000;
/** Mocha kills a process a second after it has asked it to end. */
const EXIT_LIMIT_MS = 800;
const PAUSE_MS = 10;

/** The file system in memory, where hundreds of files are created in a fraction of the time. */
const MEMORY = "/dev/shm";
/** Far more than the servers of a run need. A container may have less. */
const ENOUGH_BYTES = 2 ** 30;

export interface ServerProgram extends ServerTemplate {
  readonly program: string;
  arguments(folder: string): readonly string[];
  /** Resolves if the server responds. */
  connects(): Promise<void>;
  /** Ends the server and its children at once. */
  readonly killSignal: "SIGQUIT" | "SIGKILL";
}

/** In another process group, which Ctrl-C does not reach. */
const OF_ITS_OWN = { detached: true } as const;

/**
 * Waits for the end of the process at the other end of its input. Then it ends the server of the file `pid`, whose working folder tells it
 * from a later process with this id, and removes the folder. A dead process has none.
 */
const GUARD = `
  read -r line
  pid=$(cat "$1/pid")
  runs() { [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ]; }
  runs "$1" && kill -s "$2" "$pid" && kill -s CONT "$pid"
  tries=0
  while runs "$1" && [ $tries -lt 400 ]; do sleep 0.02; tries=$((tries + 1)); done
  rm -rf "$1"`;

export class ServerProcess implements AsyncDisposable {
  private child: ChildProcess | undefined = undefined;
  /** With the data, the messages of the server and its id. */
  private readonly parent: string;
  private readonly guard: ChildProcess;

  constructor(private readonly server: ServerProgram) {
    this.parent = mkdtempSync(join(placeOfData(), "framework-server-"));
    this.guard = spawn("sh", ["-c", GUARD, "sh", this.parent, server.killSignal.slice(3)], {
      ...OF_ITS_OWN,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.guard.unref();
    if (this.guard.stdin instanceof Socket) this.guard.stdin.unref();
    if (all.size === 0) process.once("exit", endAll);
    all.add(this);
    own(server.user, this.parent);
    copyTemplate(server, this.folder);
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  async start(): Promise<void> {
    const { server } = this;
    const messages = openSync(join(this.parent, "messages"), "w");
    const child = spawn(server.program, server.arguments(this.folder), {
      ...OF_ITS_OWN,
      stdio: ["ignore", "ignore", messages],
      cwd: this.folder,
      ...idsOf(server.user),
    });
    closeSync(messages);
    if (child.pid !== undefined) writeFileSync(join(this.parent, "pid"), String(child.pid));
    this.child = child;
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const failure = await server.connects().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      if (!this.isRunning || performance.now() > deadline)
        throw new Error(`${server.program} does not respond: ${this.lastMessages()}`, { cause: failure });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** From now on this process may end although the server runs. */
  unref(): void {
    this.child?.unref();
  }

  ref(): void {
    this.child?.ref();
  }

  /** Kills the process, which ends its connections. The data stay. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.isRunning) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    this.resume();
    child.kill(this.server.killSignal);
    await exited;
  }

  /** The connections stay open without a response. */
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
    all.delete(this);
    if (all.size === 0) process.off("exit", endAll);
    this.guard.kill();
    rmSync(this.parent, { recursive: true, force: true, maxRetries: 5 });
  }

  private get folder(): string {
    return join(this.parent, "data");
  }

  /** The server and its children, which are in other process groups. */
  private processes(): readonly number[] {
    const pid = this.child?.pid;
    if (pid === undefined || !this.isRunning) return [];
    const children = `/proc/${pid}/task/${pid}/children`;
    const found = existsSync(children) ? readFileSync(children, "utf8").split(" ").filter(Boolean).map(Number) : [];
    return [pid, ...found];
  }

  private lastMessages(): string {
    return readFileSync(join(this.parent, "messages"), "utf8").slice(-2000);
  }

  /** For the end of this process: the guard removes the folder when the server has ended. */
  endAtExit(): void {
    this.guard.stdin?.destroy();
    this.resume();
    if (this.isRunning) this.child?.kill(this.server.killSignal);
  }

  get hasFolder(): boolean {
    return existsSync(this.parent);
  }
}

function placeOfData(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ENOUGH_BYTES ? MEMORY : tmpdir();
}

/** Those of this process. */
const all = new Set<ServerProcess>();

/** Waits for the guards, so that no process is left when the run has ended. If this process is killed meanwhile, they continue. */
function endAll(): void {
  for (const server of all) server.endAtExit();
  const sleeping = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + EXIT_LIMIT_MS;
  while ([...all].some((server) => server.hasFolder) && performance.now() < deadline)
    Atomics.wait(sleeping, 0, 0, PAUSE_MS);
}
