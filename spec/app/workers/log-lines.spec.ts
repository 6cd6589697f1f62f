import { expect } from "chai";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/free-port.js";
import { newFolder } from "../../support/new-folder.js";
import { until } from "../../support/until.js";
import { isAlive, kill } from "./workers-under-test.js";

const PROGRAM = fileURLToPath(new URL("log-lines-program.js", import.meta.url));
const ENDLESS = 1_000_000;
const WORKERS = 4;

interface Line {
  readonly message?: string;
  readonly fields?: { readonly pid?: number; readonly text?: string; readonly done?: boolean; readonly code?: number };
}

/** The program with standard output and standard error in one pipe, which is read slowly. */
class PipedWorkers implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly parsed: Line[] = [];
  private readonly counts = new Map<number, number>();
  private unfinished = "";
  private readonly buffer = Buffer.alloc(16_384);
  private isAtEnd = false;

  private constructor(
    readonly parent: ChildProcess,
    private readonly pipe: number,
    private readonly folder: ReturnType<typeof newFolder>,
  ) {}

  static async start(lines: number): Promise<PipedWorkers> {
    const folder = newFolder();
    const path = join(folder.path, "pipe");
    execFileSync("mkfifo", [path]);
    const pipe = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const end = openSync(path, constants.O_WRONLY);
    const { NODE_ENV: _mode, ...inherited } = process.env;
    const env = {
      ...inherited,
      NODE_ENV: "production",
      PORT: String(await freePort()),
      WORKERS: String(WORKERS),
      LINES: String(lines),
      ENDED: join(folder.path, "ended"),
    };
    const parent = spawn(process.execPath, [PROGRAM], { env, stdio: ["ignore", end, end] });
    closeSync(end);
    return new PipedWorkers(parent, pipe, folder);
  }

  /** Reads until `condition` holds, a small part at a time. */
  async readUntil(condition: () => boolean): Promise<void> {
    await until(
      () => {
        this.readPart();
        return condition();
      },
      () => this.lines.map((line) => line.slice(0, 200)).join("\n"),
    );
  }

  async readToEnd(): Promise<void> {
    await this.readUntil(() => this.isAtEnd);
    if (this.unfinished !== "") this.add(this.unfinished);
  }

  /** The lines that are no JSON: their starts and ends. */
  get broken(): readonly string[] {
    const broken = this.lines.filter((line) => parse(line).length === 0);
    return broken.map((line) => `${line.slice(0, 50)} … ${line.slice(-50)}`);
  }

  /** The process ids and exit codes of workers. */
  get ended(): readonly string[] {
    const file = join(this.folder.path, "ended");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }

  /** The processes that have written so many long lines. */
  writers(count: number): readonly number[] {
    return [...this.counts].filter(([, lines]) => lines >= count).map(([pid]) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pids = new Set(this.parsed.flatMap(({ fields }) => fields?.pid ?? []));
    const exited = this.parent.exitCode === null && this.parent.signalCode === null && once(this.parent, "exit");
    this.parent.kill("SIGKILL");
    await exited;
    for (const pid of pids) kill(pid, "SIGKILL");
    await until(() => ![...pids].some(isAlive));
    closeSync(this.pipe);
    this.folder[Symbol.dispose]();
  }

  private readPart(): void {
    const count = this.read();
    if (count === undefined) return;
    this.isAtEnd = count === 0;
    const parts = (this.unfinished + this.buffer.toString("latin1", 0, count)).split("\n");
    this.unfinished = parts.pop() ?? "";
    for (const line of parts) this.add(line);
  }

  private add(line: string): void {
    this.lines.push(line);
    const [parsed] = parse(line);
    if (parsed === undefined) return;
    this.parsed.push(parsed);
    const { pid, text } = parsed.fields ?? {};
    if (pid !== undefined && text !== undefined) this.counts.set(pid, (this.counts.get(pid) ?? 0) + 1);
  }

  private read(): number | undefined {
    try {
      return readSync(this.pipe, this.buffer);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined;
      throw error;
    }
  }
}

function parse(line: string): readonly Line[] {
  try {
    // Lines of the program.
    return [JSON.parse(line) as Line];
  } catch {
    return [];
  }
}

describe("the log of workers in one pipe that is read slowly", function () {
  this.timeout(60_000);

  it("has whole lines, also long ones, and the last ones", async () => {
    await using workers = await PipedWorkers.start(20);

    const done = (): number => new Set(workers.parsed.flatMap(({ fields }) => (fields?.done ? fields.pid : []))).size;
    await workers.readUntil(() => done() === WORKERS);
    workers.parent.kill("SIGTERM");
    await workers.readToEnd();

    expect(workers.broken).to.deep.equal([]);
    expect(workers.writers(30)).to.have.length(WORKERS);
    expect(workers.parsed.filter(({ message, fields }) => message === "stopped" && fields?.text)).to.have.length(
      WORKERS,
    );
  });

  it("has at most the last line of a killed worker in part", async () => {
    await using workers = await PipedWorkers.start(ENDLESS);
    await workers.readUntil(() => workers.writers(4).length === WORKERS);
    const [killed = 0] = workers.writers(4);

    kill(killed, "SIGKILL");
    await workers.readUntil(() => workers.writers(4).length > WORKERS);
    workers.parent.kill("SIGTERM");
    await workers.readToEnd();

    const start = new RegExp(`^\\{"fields":\\{"pid":${killed},"text":"x* … x*$`);
    expect(workers.broken.filter((line) => !start.test(line))).to.deep.equal([]);
    // One of standard output, and one of standard error.
    expect(workers.broken).to.have.length.below(3);
  });

  it("drains and ends workers that lose their parent", async () => {
    await using workers = await PipedWorkers.start(ENDLESS);
    await workers.readUntil(() => workers.writers(2).length === WORKERS);
    const pids = workers.writers(2);

    workers.parent.kill("SIGKILL");
    await workers.readToEnd();
    await until(() => !pids.some(isAlive));

    expect(workers.ended).to.have.members(pids.map((pid) => `${pid} 0`));
  });
});
