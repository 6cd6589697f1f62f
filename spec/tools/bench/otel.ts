/**
 * The cost of one exported span for each request: through the layer of the telemetry, and with direct calls of the SDK in the same server.
 * The cost is the processor time, and where `perf` can count them the instructions, per response above those of the server without export,
 * from the first request until the last span has arrived. Servers take turns, each turn is a new process. The lowest round counts, because
 * other load can only add. Rounds with dropped spans or without responses are left out.
 *
 * @example
 * node dist/spec/tools/bench/otel.js --rounds 12 --seconds 2
 */

import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { instructionsOf } from "./instructions.js";
import { measure } from "./load.js";
import { parseOptions, type BenchOptions } from "./options.js";
import { OtelCollector } from "./otel-collector-process.js";
import { ROOT } from "./places.js";
import { startServer, type BenchServer } from "./server.js";
import { markdownTable } from "./table.js";

export const OTEL = {
  name: "otel",
  what: "one exported span a request, in processor time and in instructions, the lowest of the rounds",
  run: runOtel,
} as const;

const VARIANTS = ["no export", "by hand", "telemetry"] as const;
const BY_HAND = 1;
const SCRIPT = join(ROOT, "dist/spec/tools/bench/otel-server.js");
const COLUMNS = [
  "spans",
  "CPU µs/request",
  "for the span",
  "CPU ratio",
  "instructions/request",
  "for the span",
  "ratio",
  "delivered",
];
/** Milliseconds: longer than a batch waits and is sent. */
const SETTLING = 1500;
const REQUEST = {
  method: "GET",
  path: "/",
  headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
};

/** All per response. */
interface Turn {
  /** Microseconds of processor time. */
  readonly cpu: number;
  /** In user mode. */
  readonly instructions: number;
  /** Spans that reached the collector; a request in flight at the end has a span and no response. */
  readonly delivered: number;
}

/** The turns of all variants, in their order. */
type Round = readonly Turn[];

/** @returns the table as markdown */
export async function runOtel(options: BenchOptions): Promise<string> {
  const collector = await OtelCollector.start();
  process.env["BENCH_COLLECTOR"] = collector.endpoint;
  try {
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const turns: Turn[] = [];
      for (const variant of VARIANTS) turns.push(await oneTurn(variant, collector, options));
      rounds.push(turns);
    }
    const complete = rounds.filter(isComplete);
    if (complete.length === 0)
      throw new Error("spans were dropped in every round: the collector needs a core of its own");
    return `${table(complete)}\n\n${rounds.length - complete.length} of ${rounds.length} rounds left out`;
  } finally {
    collector.stop();
  }
}

async function oneTurn(variant: string, collector: OtelCollector, options: BenchOptions): Promise<Turn> {
  const server = await startServer({ name: variant, script: SCRIPT }, variant);
  try {
    await load(server, options, options.warmUp);
    let responses = 0;
    const [cpu, spans] = [server.cpuSeconds(), await collector.count()];
    const instructions = await instructionsOf(server.pid, async () => {
      responses = await load(server, options, options.seconds);
    });
    return {
      cpu: ((server.cpuSeconds() - cpu) / responses) * 1e6,
      instructions: instructions / responses,
      delivered: ((await collector.count()) - spans) / responses,
    };
  } finally {
    await server.stop();
  }
}

/** Whether all servers have responded and every request has its span. */
function isComplete(round: Round): boolean {
  return (
    round.every(({ cpu }) => Number.isFinite(cpu)) && round.slice(BY_HAND).every(({ delivered }) => delivered >= 1)
  );
}

/** Waits until the last span has arrived. */
async function load(server: BenchServer, { connections }: BenchOptions, seconds: number): Promise<number> {
  const { responses } = await measure({ port: server.port, requests: [REQUEST], connections, seconds });
  await sleep(SETTLING);
  return responses;
}

function table(rounds: readonly Round[]): string {
  const rows = VARIANTS.map((variant, at) => [
    variant,
    ...costs(rounds, at, (turn) => turn.cpu, 1),
    ...costs(rounds, at, (turn) => turn.instructions, 0),
    `${(Math.min(...rounds.map((round) => pick(round, at).delivered)) * 100).toFixed(1)} %`,
  ]);
  return markdownTable(COLUMNS, rows);
}

/** The cost of a request, of its span, and the ratio of its span to the span by hand. */
function costs(rounds: readonly Round[], at: number, of: (turn: Turn) => number, digits: number): readonly string[] {
  const request = (variant: number): number => Math.min(...rounds.map((round) => of(pick(round, variant))));
  const span = (variant: number): number => request(variant) - request(0);
  return [request(at).toFixed(digits), span(at).toFixed(digits), (span(at) / span(BY_HAND)).toFixed(2)];
}

function pick(round: Round, at: number): Turn {
  return round[at] ?? { cpu: Number.NaN, instructions: Number.NaN, delivered: Number.NaN };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await runOtel(parseOptions(process.argv.slice(2), [OTEL.name])));
}
