/** Cold start: from the spawn of a new process to its first answer with status 200. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { join } from "node:path";
import { ALL_PEERS, ours } from "./contender.js";
import type { BenchOptions } from "./options.js";
import { SESSION_KEY } from "./fixtures.js";
import { freePort } from "../support/free-port.js";
import { ROOT } from "./places.js";
import { markdownTable, median } from "./table.js";

interface Starter {
  readonly name: string;
  readonly args: readonly string[];
  readonly path: string;
}

const STARTERS: readonly Starter[] = [
  { name: "stagecraft, samples/links", args: [join(ROOT, "dist/samples/links/main.js")], path: "/up/live" },
  ...[...ALL_PEERS, ours()].map(({ name, script }) => ({ name: `${name}, hello`, args: [script, "hello"], path: "/" })),
];

/** Each round runs every program once; the table shows medians and maxima. */
export async function runStart(options: BenchOptions): Promise<string> {
  const starters = STARTERS.filter(({ name }) => options.only?.some((wanted) => name.startsWith(`${wanted},`)) ?? true);
  const taken = new Map<Starter, number[]>(starters.map((starter) => [starter, []]));
  for (let round = 0; round < options.rounds * 2; round += 1) {
    for (const [starter, times] of taken) times.push(await coldStart(starter));
  }
  const rows = [...taken].map(([{ name }, times]) => [name, median(times).toFixed(0), Math.max(...times).toFixed(0)]);
  return markdownTable(["program", "median ms", "slowest ms"], rows);
}

async function coldStart({ name, args, path }: Starter): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: "ignore",
    env: { ...process.env, NODE_ENV: "production", SESSION_KEY, PORT: String(port), APP_NAME: "bench" },
  });
  try {
    while (!(await answers(port, path))) {
      if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode} before it answered`);
      if (performance.now() - started > 20_000) throw new Error(`${name} did not answer 200 on ${path} within 20 s`);
    }
    return performance.now() - started;
  } finally {
    child.kill("SIGKILL");
    if (child.exitCode === null) await once(child, "exit");
  }
}

/** One start; a refused connection is repeated after two milliseconds, so that the requests do not slow the start. */
async function answers(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const again = (): unknown => setTimeout(resolve, 2, false);
    get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", again);
  });
}
