/**
 * Load on a server: `wrk` where it is installed, otherwise the autocannon of the peers. Both are one process on the core that the server
 * does not use. Requests are sent in turn over all connections.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onPath, PEERS, pinned } from "./places.js";

const LOAD_CORE = 1;
const run = promisify(execFile);

export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Sample {
  /** Responses received. */
  readonly responses: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Failed connections, timeouts, and responses that are not 2xx or 3xx. */
  readonly failures: number;
}

export interface Load {
  readonly port: number;
  readonly requests: readonly BenchRequest[];
  readonly seconds: number;
  readonly connections: number;
}

export const loadGenerator = onPath("wrk") ? "wrk" : "autocannon";

/** One measurement. */
export async function measure(load: Load): Promise<Sample> {
  return loadGenerator === "wrk" ? wrk(load) : autocannon(load);
}

async function wrk(load: Load): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), "wrk-"));
  const script = join(folder, "requests.lua");
  writeFileSync(script, luaScript(load.requests));
  const seconds = Math.max(1, Math.round(load.seconds));
  const options = ["-t1", `-c${load.connections}`, `-d${seconds}s`, "-s", script, `http://127.0.0.1:${load.port}`];
  const [command, args] = pinned(LOAD_CORE, "wrk", options);
  try {
    return wrkSample((await run(command, args)).stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function wrkSample(output: string): Sample {
  const words = /^RESULT (.+)$/m.exec(output)?.[1]?.split(" ").map(Number);
  if (words === undefined) throw new Error(`wrk said nothing that can be read: ${output}`);
  const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, failures = 0] = words;
  return {
    responses: requests,
    perSecond: requests / (microseconds / 1e6),
    p50: p50 / 1000,
    p99: p99 / 1000,
    failures,
  };
}

/** wrk sends a single request without Lua, which would cost time during the measurement. */
function luaScript(requests: readonly BenchRequest[]): string {
  const [only] = requests;
  const rows = requests.map((request) => `wrk.format(${luaArguments(request)})`);
  const send =
    requests.length === 1 && only !== undefined
      ? luaSingle(only)
      : `local wires = {}
init = function() wires = { ${rows.join(",\n")} } end
local turn = 0
request = function() turn = turn % #wires + 1; return wires[turn] end`;
  return `${send}
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

function luaSingle({ method, path, headers, body }: BenchRequest): string {
  return `wrk.method = ${luaText(method)}; wrk.path = ${luaText(path)}; wrk.headers = ${luaTable(headers)}; wrk.body = ${luaText(body)}`;
}

function luaArguments({ method, path, headers, body }: BenchRequest): string {
  return `${luaText(method)}, ${luaText(path)}, ${luaTable(headers)}, ${luaText(body)}`;
}

/** A JSON string of printable ASCII is a Lua string too. */
function luaText(text: string | undefined): string {
  return text === undefined ? "nil" : JSON.stringify(text);
}

function luaTable(headers: Readonly<Record<string, string>>): string {
  const rows = Object.entries(headers).map(([name, value]) => `[${luaText(name)}] = ${luaText(value)}`);
  return `{ ${rows.join(", ")} }`;
}

async function autocannon(load: Load): Promise<Sample> {
  const [command, args] = pinned(LOAD_CORE, process.execPath, [join(PEERS, "support/load.mjs"), JSON.stringify(load)]);
  // What support/load.mjs prints is a Sample.
  return JSON.parse((await run(command, args)).stdout) as Sample;
}
