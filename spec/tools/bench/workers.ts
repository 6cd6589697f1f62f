/**
 * Several processes behind one port: a handler with about a millisecond of work, with `run()`, one worker and two, and `hello`, where the load
 * takes as much of the processors as the servers. `workers:spread` counts what each worker has of few connections, as a proxy keeps them.
 */

import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Contender } from "./contender.js";
import { HELLO } from "./fixtures.js";
import type { BenchOptions } from "./options.js";
import { OURS } from "./places.js";
import { runScenario } from "./rounds.js";
import type { Scenario } from "./scenario.js";
import { startServer } from "./server.js";
import { markdownTable, median, whole } from "./table.js";

const COUNTS: readonly (readonly [name: string, count: number])[] = [
  ["run", 0],
  ["one-worker", 1],
  ["two-workers", 2],
];

const SPREADS: readonly (readonly [workers: number, connections: number])[] = [
  [2, 16],
  [2, 64],
  [4, 16],
  [4, 64],
];

export const WORKERS = [
  part(
    "busy",
    "a handler with about a millisecond of work: run(), one worker and two workers on two processors",
    /^\d+\n$/,
  ),
  part("hello", "GET / with a short text, where the load takes a processor: run(), one worker and two workers", HELLO),
  {
    name: "workers:spread",
    what: "connections that stay open, and the requests over them, of each worker",
    run: runSpread,
  },
] as const;

function contender(name: string, variant: string): Contender {
  return { name, variant, script: join(OURS, "serve-workers.js"), everywhere: true };
}

function part(handler: string, what: string, body: string | RegExp) {
  const request = { method: "GET", path: "/", headers: {} } as const;
  const scenario: Scenario = {
    name: `workers:${handler}`,
    what,
    contenders: COUNTS.map(([name, count]) => contender(name, `${handler}:${count}`)),
    requests: [request],
    probes: [{ request, status: 200, body }],
  };
  return { name: scenario.name, what, run: (options: BenchOptions) => runScenario(scenario, options) };
}

const COLUMNS = ["workers and connections", "connections of each", "requests/s", "ratio"];

async function runSpread({ rounds, seconds }: BenchOptions): Promise<string> {
  const rows: string[][] = [];
  for (const [workers, connections] of SPREADS) {
    const taken: Spread[] = [];
    for (let round = 0; round < rounds; round += 1) taken.push(await spreadOf(workers, connections, seconds));
    rows.push([
      `${workers} workers, ${connections} connections`,
      taken.map((spread) => spread.connections.join("/")).join(", "),
      whole(median(taken.map(({ perSecond }) => perSecond))),
      median(taken.map(({ busiest }) => busiest)).toFixed(2),
    ]);
  }
  return markdownTable(COLUMNS, rows);
}

interface Spread {
  /** How many each worker has, the largest number first. */
  readonly connections: readonly number[];
  readonly perSecond: number;
  /** The requests of the busiest worker, as a multiple of an even share. */
  readonly busiest: number;
}

async function spreadOf(workers: number, connections: number, seconds: number): Promise<Spread> {
  const server = await startServer(contender("workers", `busy:${workers}`), "workers:spread");
  try {
    const until = performance.now() + seconds * 1000;
    const asked = await Promise.all(Array.from({ length: connections }, () => askUntil(server.port, until)));
    const open = new Map<string, number>();
    const requests = new Map<string, number>();
    for (const [pid, count] of asked) {
      open.set(pid, (open.get(pid) ?? 0) + 1);
      requests.set(pid, (requests.get(pid) ?? 0) + count);
    }
    const total = [...requests.values()].reduce((sum, count) => sum + count, 0);
    return {
      connections: [...open.values()].toSorted((left, right) => right - left),
      perSecond: total / seconds,
      busiest: (Math.max(...requests.values()) * workers) / total,
    };
  } finally {
    await server.stop();
  }
}

/** @returns the process at the other end of one connection, and its responses until then */
async function askUntil(port: number, until: number): Promise<readonly [pid: string, responses: number]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const pids: string[] = [];
  try {
    while (performance.now() < until) pids.push(await ask(port, agent));
  } finally {
    agent.destroy();
  }
  if (new Set(pids).size > 1) throw new Error("a connection was not kept alive");
  return [pids[0] ?? "", pids.length];
}

async function ask(port: number, agent: Agent): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: "127.0.0.1", port, agent }, resolve).on("error", reject);
  });
  return text(response);
}
