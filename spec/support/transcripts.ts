/**
 * Transcripts of the guide: blocks of `$ command` and what it said, replayed against the program that a comment above them names,
 * `<!-- served by links -->`. Commands see `$PID`, the process that serves; they name port 3000, and are run on a free one. Program and
 * commands work in an empty folder of their own, so that a page may show how files are made and what is served of them; `app.log` in it is
 * what the program has said on standard error.
 *
 * @example
 * const again = await replay(page, (name, cwd) => Child.start(`../../guide/dist/page/${name}.js`, {}, { cwd }));
 * expect(lasting(again)).to.equal(lasting(page));
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Child } from "./child.js";

/** Starts the program of that name in that folder. */
export type StartProgram = (name: string, folder: string) => Promise<Child>;

/** `[written, real]`, for example `[6379, 40123]`. */
export type Ports = readonly (readonly [number, number])[];

const WRITTEN_PORT = 3000;
const PART = /<!-- served by ([\w-]+) -->|^```console\n([\s\S]*?)^```/gm;

/** Whether there is something on the page to replay. */
export function hasTranscripts(page: string): boolean {
  return page.includes("<!-- served by ");
}

/**
 * The page with everything said anew. Blocks before the first comment stay as they are.
 *
 * @param others ports of other servers, as they are written and as they are
 */
export async function replay(page: string, start: StartProgram, others: Ports = []): Promise<string> {
  const parts = [...page.matchAll(PART)];
  let served: Served | undefined;
  let replayed = "";
  let end = 0;
  try {
    for (const { index, 0: part, 1: name, 2: block } of parts) {
      if (name !== undefined) {
        await served?.[Symbol.asyncDispose]();
        served = await Served.by(name, start, others);
      }
      replayed += page.slice(end, index);
      replayed += block === undefined || served === undefined ? part : await served.replay(block);
      end = index + part.length;
    }
  } finally {
    await served?.[Symbol.asyncDispose]();
  }
  return replayed + page.slice(end);
}

/** A program that listens, and the folder it works in. */
class Served implements AsyncDisposable {
  private constructor(
    private readonly child: Child,
    private readonly folder: string,
    private readonly ports: Ports,
  ) {}

  static async by(name: string, start: StartProgram, others: Ports): Promise<Served> {
    const folder = mkdtempSync(join(tmpdir(), "transcript-"));
    const child = await start(name, folder);
    const served = new Served(child, folder, [[WRITTEN_PORT, child.port], ...others]);
    try {
      await child.serves();
      return served;
    } catch (error) {
      await served[Symbol.asyncDispose]();
      throw error;
    }
  }

  async replay(block: string): Promise<string> {
    let text = "";
    for (const line of block.split("\n").filter((each) => each.startsWith("$ "))) {
      const said = await this.run(line.slice(2));
      text += `${line}\n${said}${said === "" || said.endsWith("\n") ? "" : "\n"}`;
    }
    return `\`\`\`console\n${text}\`\`\``;
  }

  private async run(written: string): Promise<string> {
    const command = this.ports.reduce((text, [as, port]) => text.replaceAll(`:${as}`, `:${port}`), written);
    // The line of the last answer is in the pipe by now: a turn of the loop reads it.
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(this.folder, "app.log"), this.child.errors);
    const options = { env: { ...process.env, PID: String(this.child.pid) }, cwd: this.folder };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], options);
    const said = stdout.replaceAll("\r", "");
    return this.ports.reduce((text, [as, port]) => text.replaceAll(`:${port}`, `:${as}`), said);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.child[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What of a page is the same every time: without dates, durations, ids, nonces, and what is left of a quota. */
export function lasting(page: string): string {
  return page
    .replaceAll(/^Date: .*$/gm, "Date: …")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\b\d+ms\b/g, "<n>ms")
    .replaceAll(/(duration_ms"?[:=])\d+/g, "$1<n>")
    .replaceAll(/^(\w+_(?:sum|bucket)\{.*\}) \S+$/gm, "$1 <n>")
    .replaceAll(/("(?:parent_span_id|trace_id)":")[\da-f]+"/g, '$1<id>"')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "<uuid>")
    .replaceAll(/(nonce[-=]["']?)[A-Za-z\d+/]{24}/g, "$1<nonce>")
    .replaceAll(/^(RateLimit-(?:Remaining|Reset): )\d+$/gim, "$1<n>");
}
