/**
 * Transcripts of the guide: blocks of `$ command` and what it said, replayed against the program that a comment above them names,
 * `<!-- served by links -->`. Commands see `$PID`, the process that serves; they name port 3000, and are run on a free one.
 *
 * @example
 * const again = await replay(page, { links: () => Child.start("../../samples/links/main.js") });
 * expect(lasting(again)).to.equal(lasting(page));
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Child } from "./child.js";

export type Programs = Readonly<Record<string, () => Promise<Child>>>;

const WRITTEN_PORT = ":3000";
const PART = /<!-- served by ([\w-]+) -->|^```console\n([\s\S]*?)^```/gm;

/** The page with everything said anew. Blocks before the first comment stay as they are. */
export async function replay(page: string, programs: Programs): Promise<string> {
  let child: Child | undefined;
  let replayed = "";
  let end = 0;
  try {
    for (const { index, 0: part, 1: name, 2: block } of page.matchAll(PART)) {
      if (name !== undefined) {
        await child?.[Symbol.asyncDispose]();
        child = await started(programs, name);
      }
      const isReplayed = block !== undefined && child !== undefined;
      replayed += page.slice(end, index) + (isReplayed ? `\`\`\`console\n${await spoken(block, child)}\`\`\`` : part);
      end = index + part.length;
    }
  } finally {
    await child?.[Symbol.asyncDispose]();
  }
  return replayed + page.slice(end);
}

async function started(programs: Programs, name: string): Promise<Child> {
  const start = programs[name];
  if (start === undefined) throw new Error(`nothing is known that is called ${name}`);
  const child = await start();
  await child.says("listening", "errors");
  return child;
}

async function spoken(block: string, child: Child | undefined): Promise<string> {
  let text = "";
  for (const line of block.split("\n").filter((each) => each.startsWith("$ "))) {
    const said = await run(line.slice(2), child);
    text += `${line}\n${said}${said === "" || said.endsWith("\n") ? "" : "\n"}`;
  }
  return text;
}

async function run(command: string, child: Child | undefined): Promise<string> {
  if (child === undefined) return "";
  const port = `:${child.port}`;
  const env = { ...process.env, PID: String(child.pid) };
  const { stdout } = await promisify(execFile)("sh", ["-c", command.replaceAll(WRITTEN_PORT, port)], { env });
  return stdout.replaceAll("\r", "").replaceAll(port, WRITTEN_PORT);
}

/** What of a page is the same every time: without dates, ids, nonces, and what is left of a quota. */
export function lasting(page: string): string {
  return page
    .replaceAll(/^Date: .*$/gm, "Date: …")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "<uuid>")
    .replaceAll(/(nonce[-=]["']?)[A-Za-z\d+/]{24}/g, "$1<nonce>")
    .replaceAll(/^(RateLimit-(?:Remaining|Reset): )\d+$/gim, "$1<n>");
}
