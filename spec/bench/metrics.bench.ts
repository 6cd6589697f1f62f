/**
 * Counting, observing and rendering, beside prom-client doing the same work in the same process, turn by turn, best of many rounds.
 *
 *     npm i --prefix spec/bench/peers prom-client && npm run build && node dist/spec/bench/metrics.bench.js [directory of the peers]
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_BUCKETS, Metrics } from "../../lib/observe/metrics.js";

/** The part of prom-client that is compared. */
interface Peer {
  readonly Registry: new () => { metrics(): Promise<string> };
  readonly Counter: new (options: object) => { inc(labels: object, by?: number): void };
  readonly Histogram: new (options: object) => { observe(labels: object, value: number): void };
}

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
}

type Run = (rounds: number) => unknown;

const SETS = ["GET", "POST", "PUT", "DELETE"].flatMap((method) =>
  ["200", "201", "404", "500"].map((status) => ({ method, status })),
);
const SERIES = 10_000;

export async function benchMetrics(peers: string): Promise<readonly Row[]> {
  // The peer is installed beside the benchmarks, not beside the framework, and its types are not.
  const prom = createRequire(resolve(peers, "index.js"))("prom-client") as Peer;
  return [
    await compare("increment, two labels (ns)", 300_000, ...incrementing(prom)),
    await compare("observe, two labels, 0 to 10 s evenly (ns)", 300_000, ...observing(prom, evenly)),
    await compare("observe, two labels, around 3 ms (ns)", 300_000, ...observing(prom, aroundThreeMilliseconds)),
    await compare(`render ${SERIES} counters (ns)`, 1, ...renderingCounters(prom)),
    await compare(`render ${SERIES} histograms, ${SERIES * 14} lines (ns)`, 1, ...renderingHistograms(prom)),
  ];
}

async function compare(what: string, rounds: number, ours: Run, peer: Run): Promise<Row> {
  let [best, bestPeer] = [Infinity, Infinity];
  for (let turn = 0; turn < 12; turn++) {
    best = Math.min(best, await time(ours, rounds));
    bestPeer = Math.min(bestPeer, await time(peer, rounds));
  }
  return { what, ours: best.toFixed(1), peer: bestPeer.toFixed(1), ratio: (bestPeer / best).toFixed(1) };
}

/** Nanoseconds a round. */
async function time(run: Run, rounds: number): Promise<number> {
  const start = performance.now();
  const text = await run(rounds);
  // What is sent is bytes, so a text put together lazily pays here.
  if (typeof text === "string") Buffer.from(text);
  return ((performance.now() - start) / rounds) * 1e6;
}

function incrementing(prom: Peer): [Run, Run] {
  const metrics = new Metrics();
  const counter = new prom.Counter({ ...options(prom), name: "c_total" });
  return [
    (rounds) => {
      for (let round = 0; round < rounds; round++) metrics.increment("c_total", fresh(round));
    },
    (rounds) => {
      for (let round = 0; round < rounds; round++) counter.inc(fresh(round));
    },
  ];
}

function observing(prom: Peer, draw: () => number): [Run, Run] {
  const values = Float64Array.from({ length: 4096 }, draw);
  const metrics = new Metrics();
  const histogram = new prom.Histogram({ ...options(prom), name: "h_seconds" });
  return [
    (rounds) => {
      for (let round = 0; round < rounds; round++)
        metrics.observe("h_seconds", fresh(round), values[round & 4095] ?? 0);
    },
    (rounds) => {
      for (let round = 0; round < rounds; round++) histogram.observe(fresh(round), values[round & 4095] ?? 0);
    },
  ];
}

function renderingCounters(prom: Peer): [Run, Run] {
  const metrics = new Metrics();
  const { registry, ...rest } = options(prom, "route");
  const counter = new prom.Counter({ ...rest, name: "r_total" });
  for (let index = 0; index < SERIES; index++) {
    metrics.increment("r_total", { ...fresh(index), route: `/r/${index}` }, index);
    counter.inc({ ...fresh(index), route: `/r/${index}` }, index);
  }
  return [() => metrics.render(), () => registry.metrics()];
}

function renderingHistograms(prom: Peer): [Run, Run] {
  const metrics = new Metrics();
  const { registry, ...rest } = options(prom, "route");
  const histogram = new prom.Histogram({ ...rest, name: "r_seconds" });
  for (let index = 0; index < SERIES; index++) {
    metrics.observe("r_seconds", { ...fresh(index), route: `/r/${index}` }, index / 1000);
    histogram.observe({ ...fresh(index), route: `/r/${index}` }, index / 1000);
  }
  return [() => metrics.render(), () => registry.metrics()];
}

function options(prom: Peer, ...more: readonly string[]) {
  const registry = new prom.Registry();
  return {
    registry,
    registers: [registry],
    help: "x",
    labelNames: ["method", "status", ...more],
    buckets: [...DEFAULT_BUCKETS],
  };
}

/** A new object every time, as a caller writes it. */
function fresh(round: number): { method: string; status: string } {
  const { method = "", status = "" } = SETS[round & 15] ?? {};
  return { method, status };
}

function evenly(): number {
  return Math.random() * 10;
}

function aroundThreeMilliseconds(): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return 0.003 * Math.exp(1.2 * normal);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.table(await benchMetrics(process.argv[2] ?? "spec/bench/peers"));
}
