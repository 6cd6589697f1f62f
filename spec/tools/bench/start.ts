/** Cold start: from the spawn of a new process to its first response with status 200. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { join, resolve } from "node:path";
import { ALL_PEERS, before as earlier, type Contender, ours } from "./contender.js";
import type { BenchOptions } from "./options.js";
import { SESSION_KEY } from "./fixtures.js";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "./places.js";
import { cpuSeconds } from "./server.js";
import { markdownTable, median } from "./table.js";

interface Starter {
  readonly contender: string;
  readonly program: "hello" | "samples/links";
  readonly args: readonly string[];
  readonly path: string;
}

interface Start {
  readonly ms: number;
  /** Processor time of the process, all threads: other load on the machine changes it little. */
  readonly cpuMs: number;
}

function hello({ name, script }: Contender): Starter {
  return { contender: name, program: "hello", args: [script, "hello"], path: "/" };
}

function links(contender: string, checkout: string): Starter {
  const script = join(resolve(checkout), "dist/samples/links/main.js");
  return { contender, program: "samples/links", args: [script], path: "/up/live" };
}

const STARTERS: readonly Starter[] = [links("stagecraft", ROOT), ...[...ALL_PEERS, ours()].map(hello)];

function startersOf({ only, before }: BenchOptions): readonly Starter[] {
  const wanted = STARTERS.filter(({ contender }) => only?.includes(contender) ?? true);
  return before === undefined ? wanted : [links("before", before), hello(earlier(before)), ...wanted];
}

/** Each round starts every program once. */
export async function runStart(options: BenchOptions): Promise<string> {
  const taken = new Map<Starter, Start[]>(startersOf(options).map((starter) => [starter, []]));
  for (let round = 0; round < options.rounds * 2; round += 1) {
    for (const [starter, starts] of taken) starts.push(await coldStart(starter));
  }
  return summary(taken);
}

const COLUMNS = ["program", "median ms", "slowest ms", "CPU ms", "CPU ratio"];

/** The ratio is "times as fast as the first contender with this program", taken within a round. */
function summary(taken: ReadonlyMap<Starter, readonly Start[]>): string {
  const rows = [...taken].map(([{ contender, program }, starts]) => {
    const [, reference = []] = [...taken].find(([first]) => first.program === program) ?? [];
    const times = starts.map(({ ms }) => ms);
    return [
      `${contender}, ${program}`,
      median(times).toFixed(0),
      Math.max(...times).toFixed(0),
      median(starts.map(({ cpuMs }) => cpuMs)).toFixed(0),
      median(starts.map(({ cpuMs }, round) => (reference[round]?.cpuMs ?? 0) / cpuMs)).toFixed(2),
    ];
  });
  return markdownTable(COLUMNS, rows);
}

async function coldStart({ contender, program, args, path }: Starter): Promise<Start> {
  const name = `${contender}, ${program}`;
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: "ignore",
    env: {
      ...process.env,
      NODE_ENV: "production",
      SESSION_KEY,
      PORT: String(port),
      APP_NAME: "bench",
      DATABASE_FILE: ":memory:",
    },
  });
  try {
    while (!(await isReady(port, path))) {
      if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode} before it responded`);
      if (performance.now() - started > 20_000)
        throw new Error(`${name} did not respond with 200 on ${path} within 20 s`);
    }
    return { ms: performance.now() - started, cpuMs: cpuSeconds(child.pid) * 1000 };
  } finally {
    child.kill("SIGKILL");
    if (child.exitCode === null) await once(child, "exit");
  }
}

/** One start; a refused connection is repeated after two milliseconds, so that the requests do not slow the start. */
async function isReady(port: number, path: string): Promise<boolean> {
  return new Promise((done) => {
    const again = (): unknown => setTimeout(done, 2, false);
    get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    }).on("error", again);
  });
}
