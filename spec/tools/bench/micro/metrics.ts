/** Counting, observing and rendering, beside prom-client doing the same work. */

import type { Readable } from "node:stream";
import { DEFAULT_BUCKETS, Metrics } from "@stagecraft/framework/observe/metrics";
import type { Comparison, MicroContender } from "./comparison.js";
import { longestPause } from "./longest-pause.js";
import { peerPackage } from "./peer-package.js";

/** The part of prom-client that is compared. */
interface Prometheus {
  readonly Registry: new () => { metrics(): Promise<string> };
  readonly Counter: new (options: object) => { inc(labels: object, by?: number): void };
  readonly Histogram: new (options: object) => { observe(labels: object, value: number): void };
}

const SETS = ["GET", "POST", "PUT", "DELETE"].flatMap((method) =>
  ["200", "201", "404", "500"].map((status) => ({ method, status })),
);
const SERIES = 10_000;

export function metricsComparisons(): readonly Comparison[] {
  const prometheus = peerPackage<Prometheus>("prom-client");
  return [
    { what: "increment, two labels", contenders: incrementing(prometheus) },
    { what: "observe, two labels, 0 to 10 s evenly", contenders: observing(prometheus, evenly) },
    { what: "observe, two labels, around 3 ms", contenders: observing(prometheus, aroundThreeMilliseconds) },
    { what: `render ${SERIES} counters`, contenders: renderingCounters(prometheus) },
    { what: `render ${SERIES} histograms`, contenders: renderingHistograms(prometheus) },
    {
      what: `longest pause while ${SERIES} histograms are scraped`,
      contenders: scraping(prometheus),
      measure: longestPause,
    },
  ];
}

function pair(peer: MicroContender["run"], ours: MicroContender["run"]): readonly MicroContender[] {
  return [
    { name: "prom-client", run: peer },
    { name: "stagecraft", run: ours },
  ];
}

function incrementing({ Counter, Registry }: Prometheus): readonly MicroContender[] {
  const metrics = new Metrics();
  const counter = new Counter({ ...options(new Registry()), name: "c_total" });
  return pair(
    (times) => {
      for (let turn = 0; turn < times; turn += 1) counter.inc(fresh(turn));
    },
    (times) => {
      for (let turn = 0; turn < times; turn += 1) metrics.increment("c_total", fresh(turn));
    },
  );
}

function observing({ Histogram, Registry }: Prometheus, draw: () => number): readonly MicroContender[] {
  const values = Float64Array.from({ length: 4096 }, draw);
  const metrics = new Metrics();
  const histogram = new Histogram({ ...options(new Registry()), name: "h_seconds" });
  return pair(
    (times) => {
      for (let turn = 0; turn < times; turn += 1) histogram.observe(fresh(turn), values[turn & 4095] ?? 0);
    },
    (times) => {
      for (let turn = 0; turn < times; turn += 1) metrics.observe("h_seconds", fresh(turn), values[turn & 4095] ?? 0);
    },
  );
}

function renderingCounters({ Counter, Registry }: Prometheus): readonly MicroContender[] {
  const metrics = new Metrics();
  const registry = new Registry();
  const counter = new Counter({ ...options(registry, "route"), name: "r_total" });
  for (let index = 0; index < SERIES; index += 1) {
    metrics.increment("r_total", { ...fresh(index), route: `/r/${index}` }, index);
    counter.inc({ ...fresh(index), route: `/r/${index}` }, index);
  }
  return rendering(registry, metrics);
}

function renderingHistograms(prometheus: Prometheus): readonly MicroContender[] {
  const { registry, metrics } = manyHistograms(prometheus);
  return rendering(registry, metrics);
}

function scraping(prometheus: Prometheus): readonly MicroContender[] {
  const { registry, metrics } = manyHistograms(prometheus);
  return pair(
    async () => Buffer.from(await registry.metrics()),
    async () => {
      // A body of this size is a stream; a socket lets go of what it has sent.
      for await (const chunk of (await metrics.response()).body as Readable) void chunk;
    },
  );
}

function manyHistograms({ Histogram, Registry }: Prometheus) {
  const metrics = new Metrics();
  const registry = new Registry();
  const histogram = new Histogram({ ...options(registry, "route"), name: "r_seconds" });
  for (let index = 0; index < SERIES; index += 1) {
    metrics.observe("r_seconds", { ...fresh(index), route: `/r/${index}` }, index / 1000);
    histogram.observe({ ...fresh(index), route: `/r/${index}` }, index / 1000);
  }
  return { registry, metrics };
}

function rendering(registry: { metrics(): Promise<string> }, metrics: Metrics): readonly MicroContender[] {
  return pair(
    async (times) => {
      for (let turn = 1; turn < times; turn += 1) Buffer.from(await registry.metrics());
      return registry.metrics();
    },
    (times) => {
      for (let turn = 1; turn < times; turn += 1) Buffer.from(metrics.render());
      return metrics.render();
    },
  );
}

function options(registry: object, ...more: readonly string[]): object {
  return { registers: [registry], help: "x", labelNames: ["method", "status", ...more], buckets: [...DEFAULT_BUCKETS] };
}

/** A new object every time, as a caller writes it. */
function fresh(turn: number): { readonly method: string; readonly status: string } {
  const { method = "", status = "" } = SETS[turn & 15] ?? {};
  return { method, status };
}

function evenly(): number {
  return Math.random() * 10;
}

function aroundThreeMilliseconds(): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return 0.003 * Math.exp(1.2 * normal);
}
