/**
 * One body of 1 GiB (`--mebibytes` for another size) through a handler: to disk by `FsStorage`, beside `pipeline(req, file)` of Node and the
 * same with the flush that a storage needs; to S3 by `S3Storage`, beside the bare SDK. Each contender is a process of its own.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { S3Server } from "../../support/s3-server.js";
import type { BenchOptions } from "./options.js";
import { ROOT } from "./places.js";
import { markdownTable, median } from "./table.js";

export const STORAGE = {
  name: "storage",
  what: "a body of 1 GiB stored on a disk and in S3, and the memory that it takes",
  run: runStorage,
} as const;

const CHUNK = Buffer.alloc(65_536, 0xee);
const COLUMNS = ["contender", "MiB/s", "ratio", "peak of resident memory, MiB", "above the start, MiB"];
/** Each with the contender that its ratio counts from. */
const CONTENDERS = [
  ["pipeline", "pipeline"],
  ["pipeline and fsync", "pipeline"],
  ["FsStorage", "pipeline"],
  ["the SDK, size known", "the SDK, size known"],
  ["S3Storage, size known", "the SDK, size known"],
  ["lib-storage, in parts", "lib-storage, in parts"],
  ["S3Storage, in parts", "lib-storage, in parts"],
] as const;

interface Measured {
  readonly perSecond: number;
  readonly peak: number;
  readonly growth: number;
}

async function runStorage({ rounds, mebibytes }: BenchOptions): Promise<string> {
  await using service = await S3Server.start();
  service.intercept = discard;
  const turns = new Map<string, Measured[]>(CONTENDERS.map(([name]) => [name, []]));
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    for (const [name] of CONTENDERS) turns.get(name)?.push(await turnOf(name, mebibytes, service.url));
  }
  const own = (name: string, value: (turn: Measured) => number): number => median((turns.get(name) ?? []).map(value));
  const rows = CONTENDERS.map(([name, base]) => {
    const speed = own(name, ({ perSecond }) => perSecond);
    const ratio = speed / own(base, ({ perSecond }) => perSecond);
    const memory = [own(name, ({ peak }) => peak), own(name, ({ growth }) => growth)].map((each) => each.toFixed(0));
    return [name, speed.toFixed(0), ratio.toFixed(2), ...memory];
  });
  return markdownTable(COLUMNS, rows);
}

/** The service takes each content and keeps none, so that the benchmark measures the client. */
const discard: NonNullable<S3Server["intercept"]> = (asked, response) => {
  asked.resume();
  asked.on("end", () => {
    const tag = { ETag: '"0"', "Content-Type": "application/xml" };
    if (asked.method !== "POST") return response.writeHead(200, tag).end();
    const root =
      asked.url?.includes("uploads") === true ? "InitiateMultipartUploadResult" : "CompleteMultipartUploadResult";
    return response.writeHead(200, tag).end(`<${root}><UploadId>1</UploadId><ETag>"0"</ETag></${root}>`);
  });
  return true;
};

async function turnOf(contender: string, mebibytes: number, endpoint: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "bench-storage-"));
  const program = join(ROOT, "dist/spec/tools/bench/storage-server.js");
  const child = spawn(process.execPath, [program, contender, folder, endpoint], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production", NODE_NO_WARNINGS: "1" },
  });
  try {
    // The first output is the port.
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const before = memoryOf(child.pid, "VmRSS");
    const begin = performance.now();
    await send(Number(String(port)), mebibytes * 1_048_576);
    const seconds = (performance.now() - begin) / 1000;
    const peak = memoryOf(child.pid, "VmHWM");
    return { perSecond: mebibytes / seconds, peak, growth: peak - before };
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function send(port: number, bytes: number): Promise<void> {
  const asked = request({ port, host: "127.0.0.1", method: "PUT", headers: { "Content-Length": bytes } });
  const received = once(asked, "response");
  await pipeline(Readable.from(chunks(bytes), { objectMode: false, highWaterMark: 1_048_576 }), asked);
  // The only argument of the event.
  const [response] = (await received) as [Readable & { readonly statusCode: number }];
  response.resume();
  if (response.statusCode !== 200) throw new Error(`the body got the status ${response.statusCode}`);
  await once(response, "end");
}

function* chunks(bytes: number): Iterable<Buffer> {
  for (let sent = 0; sent < bytes; sent += CHUNK.length) yield CHUNK;
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
