/** One file of 1 GiB in a form: to disk by `ctx.uploads`, beside `pipeline(req, file)` of Node, each in a process of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BenchOptions } from "./options.js";
import { ROOT } from "./places.js";
import { markdownTable, median } from "./table.js";

export const UPLOADS = {
  name: "uploads",
  what: "a form with one file of 1 GiB to disk, and the memory that it takes",
  run: runUploads,
} as const;

const BYTES = 1_073_741_824;
const CHUNK = Buffer.alloc(65_536, 0xee);
const BOUNDARY = "bench-boundary";
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;
const COLUMNS = ["contender", "MiB/s", "ratio", "peak of resident memory, MiB", "above the start, MiB"];
const CONTENDERS = ["pipeline", "stagecraft"] as const;

interface Turn {
  readonly perSecond: number;
  readonly peak: number;
  readonly growth: number;
}

async function runUploads({ rounds }: BenchOptions): Promise<string> {
  const turns = new Map<string, Turn[]>(CONTENDERS.map((name) => [name, []]));
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    for (const name of CONTENDERS) turns.get(name)?.push(await turnOf(name));
  }
  const own = (name: string, value: (turn: Turn) => number): number => median((turns.get(name) ?? []).map(value));
  const first = own("pipeline", ({ perSecond }) => perSecond);
  const rows = CONTENDERS.map((name) => {
    const speed = own(name, ({ perSecond }) => perSecond);
    const memory = [own(name, ({ peak }) => peak), own(name, ({ growth }) => growth)].map((each) => each.toFixed(0));
    return [name, speed.toFixed(0), (speed / first).toFixed(2), ...memory];
  });
  return markdownTable(COLUMNS, rows);
}

async function turnOf(contender: string): Promise<Turn> {
  const folder = mkdtempSync(join(tmpdir(), "bench-uploads-"));
  const program = join(ROOT, "dist/spec/tools/bench/uploads-server.js");
  const child = spawn(process.execPath, [program, contender, folder, String(BYTES)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const before = memoryOf(child.pid, "VmRSS");
    const begin = performance.now();
    await send(Number(String(port)));
    const seconds = (performance.now() - begin) / 1000;
    const peak = memoryOf(child.pid, "VmHWM");
    return { perSecond: BYTES / 1_048_576 / seconds, peak, growth: peak - before };
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function send(port: number): Promise<void> {
  const headers = {
    "Content-Type": `multipart/form-data; boundary=${BOUNDARY}`,
    "Content-Length": HEAD.length + BYTES + TAIL.length,
  };
  const asked = request({ port, host: "127.0.0.1", method: "POST", headers });
  const received = once(asked, "response");
  await pipeline(Readable.from(body(), { objectMode: false, highWaterMark: 1_048_576 }), asked);
  const [response] = (await received) as [Readable & { readonly statusCode: number }];
  response.resume();
  if (response.statusCode !== 200) throw new Error(`the upload got the status ${response.statusCode}`);
  await once(response, "end");
}

function* body(): Iterable<Buffer> {
  yield Buffer.from(HEAD);
  for (let sent = 0; sent < BYTES; sent += CHUNK.length) yield CHUNK;
  yield Buffer.from(TAIL);
}

/** MiB; 0 on a system without `/proc`. */
function memoryOf(pid: number | undefined, field: string): number {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
  } catch {
    return 0;
  }
}
