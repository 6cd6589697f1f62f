/**
 * Transcripts of the guide: blocks of `$ command` lines with their output. A comment above a block, `<!-- served by links -->`, names the
 * program; `replay` runs the commands against it. A command may use `$PID`, the process id of the program. Port 3000 in a command becomes a
 * free port. Program and commands run in an empty folder, where `app.log` holds the standard error of the program.
 *
 * @example
 * const again = await replay(page, (name, cwd) => Child.start(`../../guide/dist/page/${name}.js`, {}, { cwd }));
 * expect(lasting(again)).to.equal(lasting(page));
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Child } from "./child.js";
import { Shell } from "./shell.js";
import { until } from "./until.js";

/** Starts a program by its name, in a folder. */
export type StartProgram = (name: string, folder: string) => Promise<Child>;

/** The port in the page and the real port, for example `[6379, 40123]`. */
export type Ports = readonly (readonly [number, number])[];

const WRITTEN_PORT = 3000;
/** Commands that read the result of a job, the log, or a page that the browser renders if the server takes too long. */
const READS = /^(?:sleep|grep|tail)\b|Accept: text\/html/;
const READ_LIMIT_MS = 30_000;
const PART = /<!-- served by ([\w-]+) -->|^```console\n([\s\S]*?)^```/gm;

/** Whether the page has a transcript. */
export function hasTranscripts(page: string): boolean {
  return page.includes("<!-- served by ");
}

/**
 * Returns the page with new output. Blocks before the first comment stay unchanged.
 *
 * @param others the ports of other servers
 */
export async function replay(page: string, start: StartProgram, others: Ports = []): Promise<string> {
  const parts = [...page.matchAll(PART)];
  await using shell = new Shell();
  let running: RunningProgram | undefined;
  let replayed = "";
  let end = 0;
  try {
    for (const { index, 0: part, 1: name, 2: block } of parts) {
      if (name !== undefined) {
        await running?.[Symbol.asyncDispose]();
        running = await RunningProgram.start(name, start, others, shell);
      }
      replayed += page.slice(end, index);
      replayed += block === undefined || running === undefined ? part : await running.replay(block);
      end = index + part.length;
    }
  } finally {
    await running?.[Symbol.asyncDispose]();
  }
  return replayed + page.slice(end);
}

/** A running program and its folder. */
class RunningProgram implements AsyncDisposable {
  private constructor(
    private readonly child: Child,
    private readonly folder: string,
    private readonly ports: Ports,
    private readonly shell: Shell,
  ) {}

  static async start(name: string, startProgram: StartProgram, others: Ports, shell: Shell): Promise<RunningProgram> {
    const folder = mkdtempSync(join(tmpdir(), "transcript-"));
    const child = await startProgram(name, folder);
    const running = new RunningProgram(child, folder, [[WRITTEN_PORT, child.port], ...others], shell);
    try {
      await child.serves();
      return running;
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
  }

  async replay(block: string): Promise<string> {
    let text = "";
    for (const part of block.split(/^(?=\$ )/m).filter((each) => each.startsWith("$ "))) {
      const [line = "", ...written] = part.split("\n");
      text += `${line}\n${await this.said(line.slice(2), written.join("\n"))}`;
    }
    return `\`\`\`console\n${text}\`\`\``;
  }

  /** A command that reads a later result is repeated until its output is the expected one, or for a limited time. */
  private async said(command: string, written: string): Promise<string> {
    const deadline = performance.now() + READ_LIMIT_MS;
    for (;;) {
      const text = await this.run(command);
      const said = text === "" || text.endsWith("\n") ? text : `${text}\n`;
      if (!READS.test(command) || lasting(said) === lasting(written) || performance.now() > deadline) return said;
    }
  }

  private async run(written: string): Promise<string> {
    const command = this.ports.reduce((text, [as, port]) => text.replaceAll(`:${as}`, `:${port}`), written);
    // The log line of the last response is in the pipe. One iteration of the event loop reads it.
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(this.folder, "app.log"), this.child.errors);
    const stdout = await this.shell.run(`cd '${this.folder}'; PID=${this.child.pid}; ${command}`);
    // On a busy machine the next command would come before the signal.
    if (command.startsWith("kill -TERM")) await until(() => this.child.errors.includes("drain"));
    const said = stdout.replaceAll("\r", "");
    return this.ports.reduce((text, [as, port]) => text.replaceAll(`:${port}`, `:${as}`), said);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.child[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The page with placeholders for all values that change: dates, durations, ids, nonces and the rest of a quota. */
export function lasting(page: string): string {
  return (
    page
      .replaceAll(/^Date: .*$/gm, "Date: …")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replaceAll(/\b\d+ms\b/g, "<n>ms")
      .replaceAll(/(duration_ms"?[:=])\d+/g, "$1<n>")
      .replaceAll(/^(\w+_(?:sum|bucket)\{.*\}) \S+$/gm, "$1 <n>")
      .replaceAll(/("(?:parent_span_id|trace_id)":")[\da-f]+"/g, '$1<id>"')
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "<uuid>")
      .replaceAll(/((?:-id|-csrf|XSRF-TOKEN)=)[\w.-]{64,66}/g, "$1<random>")
      .replaceAll(/(name="_token" value=")[\w-]{86}/g, "$1<random>")
      .replaceAll(/(nonce[-=]["']?)[A-Za-z\d+/]{24}/g, "$1<nonce>")
      .replaceAll(/^(RateLimit-(?:Remaining|Reset): )\d+$/gim, "$1<n>")
      // The rest of half an hour.
      .replaceAll(/^(Retry-After: )1[78]\d\d$/gim, "$1<n>")
  );
}
