/**
 * GET / alone, and while 100 sign-ins hash their passwords, in one process without a processor of its own: the hashes run on the threads of
 * Node, beside the one that responds.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { measure } from "./load.js";
import type { BenchOptions } from "./options.js";
import { ROOT } from "./places.js";
import { markdownTable, median } from "./table.js";

export const PASSWORDS = {
  name: "passwords",
  what: "GET / with a short text, alone and while 100 sign-ins hash",
  run: runPasswords,
} as const;

const SIGN_INS = 100;
const COLUMNS = ["hashes at once", "alone, responses/s", "while 100 sign-ins hash", "ratio", "p99 alone, ms", "p99"];
/** The default, and all threads of Node. */
const CONCURRENCIES = ["", "1", "2", "4"];

async function runPasswords(options: BenchOptions): Promise<string> {
  const rows: string[][] = [];
  for (const concurrency of CONCURRENCIES) rows.push(await compare(concurrency, options));
  return markdownTable(COLUMNS, rows);
}

async function compare(concurrency: string, { rounds, seconds, connections }: BenchOptions): Promise<string[]> {
  const child = spawn(process.execPath, [join(ROOT, "dist/spec/tools/bench/passwords-server.js"), concurrency], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const port = Number(line.replace("ready ", ""));
    const load = { port, requests: [{ method: "GET", path: "/", headers: {} }], seconds, connections };
    await measure({ ...load, seconds: 1 });
    const [alone, beside] = [[], []] as [Rate[], Rate[]];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await measure(load));
      beside.push(await whileHashing(port, () => measure(load)));
    }
    return toRow(concurrency, alone, beside);
  } finally {
    child.kill("SIGKILL");
  }
}

interface Rate {
  readonly perSecond: number;
  readonly p99: number;
}

function toRow(concurrency: string, alone: readonly Rate[], beside: readonly Rate[]): string[] {
  const [before, after] = [alone, beside].map((rates) => median(rates.map(({ perSecond }) => perSecond)));
  const [calm, busy] = [alone, beside].map((rates) => median(rates.map(({ p99 }) => p99)));
  const ratio = median(beside.map(({ perSecond }, index) => perSecond / (alone[index]?.perSecond ?? NaN)));
  const figures = [before, after].map((value = NaN) => value.toFixed(0));
  return [
    concurrency === "" ? "by default" : concurrency,
    ...figures,
    ratio.toFixed(2),
    ...[calm, busy].map((value = NaN) => value.toFixed(1)),
  ];
}

/** The sign-ins that have not ended after the work lose their clients. */
async function whileHashing<T>(port: number, work: () => Promise<T>): Promise<T> {
  const clients = new AbortController();
  const signIns = Array.from({ length: SIGN_INS }, () =>
    fetch(`http://127.0.0.1:${port}/sign-in`, { method: "POST", signal: clients.signal }).then(
      ({ status }) => status,
      () => "left",
    ),
  );
  const result = await work();
  clients.abort();
  const ends = await Promise.all(signIns);
  if (!ends.includes("left")) throw new Error("all sign-ins ended before the measurement did");
  return result;
}
