/**
 * Rounds of load: every contender once, then every contender again, so that other load on the machine affects all of them. Each measurement
 * is a new process after a warm-up. A ratio is taken within a round; medians are taken over the rounds.
 */

import { existsSync } from "node:fs";
import { before as earlier, type Contender } from "./contender.js";
import { measure, type Sample } from "./load.js";
import type { BenchOptions } from "./options.js";
import { assertResponses, withCookies } from "./probe.js";
import type { Scenario } from "./scenario.js";
import { startServer } from "./server.js";
import { markdownTable, median, whole } from "./table.js";

interface Measurement extends Sample {
  /** Processor time of the server per response, in microseconds: other load on the machine changes it little. */
  readonly cost: number;
}

interface Result {
  readonly contender: Contender;
  readonly samples: Measurement[];
}

/** Runs the scenario and returns its table; it starts only the contenders in `only`. */
export async function runScenario(scenario: Scenario, options: BenchOptions): Promise<string> {
  const contenders = contendersOf(scenario, options);
  const results = contenders.map((contender): Result => ({ contender, samples: [] }));
  for (const contender of contenders) await checkResponses(contender, scenario);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { contender, samples } of results) samples.push(await oneMeasurement(contender, scenario, options));
  }
  return summary(results);
}

function contendersOf({ contenders }: Scenario, { only, before }: BenchOptions): readonly Contender[] {
  const wanted = contenders
    .filter(({ name }) => only?.includes(name) ?? true)
    .filter(({ script }) => existsSync(script));
  return before === undefined ? wanted : [earlier(before), ...wanted];
}

async function checkResponses(contender: Contender, scenario: Scenario): Promise<void> {
  const server = await startServer(contender, scenario.name);
  try {
    const { probes, signIn } = scenario;
    const requests = await withCookies(
      server.port,
      signIn,
      probes.map(({ request }) => request),
    );
    const asked = probes.map((probe, at) => ({ ...probe, request: requests[at] ?? probe.request }));
    await assertResponses(contender.name, server.port, asked);
  } finally {
    await server.stop();
  }
}

async function oneMeasurement(contender: Contender, scenario: Scenario, options: BenchOptions): Promise<Measurement> {
  const server = await startServer(contender, scenario.name);
  try {
    const requests = await withCookies(server.port, scenario.signIn, scenario.requests);
    const load = { port: server.port, requests, connections: options.connections };
    await measure({ ...load, seconds: options.warmUp });
    const before = server.cpuSeconds();
    const sample = await measure({ ...load, seconds: options.seconds });
    return { ...sample, cost: ((server.cpuSeconds() - before) / sample.responses) * 1e6 };
  } finally {
    await server.stop();
  }
}

const COLUMNS = [
  "contender",
  "requests/s",
  "ratio",
  "CPU µs/request",
  "CPU ratio",
  "p50 ms",
  "p99 ms",
  "p99 ratio",
  "failures",
];

/** The ratios of requests and of processor time are "times as fast as the first contender", that of p99 is "times as long". */
function summary(results: readonly Result[]): string {
  const reference = results[0]?.samples ?? [];
  const rows = results.map(({ contender, samples }) => {
    const over = (pick: (sample: Measurement, round: number) => number): number => median(samples.map(pick));
    return [
      contender.name,
      whole(over(({ perSecond }) => perSecond)),
      over(({ perSecond }, round) => perSecond / (reference[round]?.perSecond ?? 0)).toFixed(2),
      over(({ cost }) => cost).toFixed(1),
      over(({ cost }, round) => (reference[round]?.cost ?? 0) / cost).toFixed(2),
      over(({ p50 }) => p50).toFixed(2),
      over(({ p99 }) => p99).toFixed(2),
      over(({ p99 }, round) => p99 / (reference[round]?.p99 ?? 0)).toFixed(2),
      String(samples.reduce((sum, { failures }) => sum + failures, 0)),
    ];
  });
  return markdownTable(COLUMNS, rows);
}
