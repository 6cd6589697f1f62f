/**
 * Rounds of load: every contender once, then every contender again, so that whatever else the machine does falls on all of them.
 * Each measurement is a fresh process, warmed up first. A ratio is taken within a round; medians are taken over the rounds.
 */

import { existsSync } from "node:fs";
import type { Contender } from "./contender.js";
import { measure, type Sample } from "./load.js";
import type { BenchOptions } from "./options.js";
import { assertAnswers } from "./probe.js";
import type { Scenario } from "./scenario.js";
import { startServer } from "./server.js";
import { markdownTable, median, whole } from "./table.js";

interface Result {
  readonly contender: Contender;
  readonly samples: Sample[];
}

/** Runs the scenario and returns its table; the contenders that `only` leaves out are not started. */
export async function runScenario(scenario: Scenario, options: BenchOptions): Promise<string> {
  const contenders = scenario.contenders
    .filter(({ name }) => options.only?.includes(name) ?? true)
    .filter(({ script }) => existsSync(script));
  const results = contenders.map((contender): Result => ({ contender, samples: [] }));
  for (const contender of contenders) await checkAnswers(contender, scenario);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { contender, samples } of results) samples.push(await oneMeasurement(contender, scenario, options));
  }
  return summary(results);
}

async function checkAnswers(contender: Contender, scenario: Scenario): Promise<void> {
  const server = await startServer(contender, scenario.name);
  try {
    await assertAnswers(contender.name, server.port, scenario.probes);
  } finally {
    await server.stop();
  }
}

async function oneMeasurement(contender: Contender, scenario: Scenario, options: BenchOptions): Promise<Sample> {
  const server = await startServer(contender, scenario.name);
  try {
    const load = { port: server.port, requests: scenario.requests, connections: options.connections };
    await measure({ ...load, seconds: options.warmUp });
    return await measure({ ...load, seconds: options.seconds });
  } finally {
    await server.stop();
  }
}

function summary(results: readonly Result[]): string {
  const [reference] = results;
  const rows = results.map(({ contender, samples }) => [
    contender.name,
    whole(median(samples.map(({ perSecond }) => perSecond))),
    median(samples.map(({ perSecond }, round) => perSecond / (reference?.samples[round]?.perSecond ?? 0))).toFixed(2),
    median(samples.map(({ p50 }) => p50)).toFixed(2),
    median(samples.map(({ p99 }) => p99)).toFixed(2),
    String(samples.reduce((sum, { failures }) => sum + failures, 0)),
  ]);
  const ratio = `ratio to ${reference?.contender.name ?? "nobody"}`;
  return markdownTable(["contender", "requests/s", ratio, "p50 ms", "p99 ms", "failures"], rows);
}
