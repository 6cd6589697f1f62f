/**
 * `npm run cost` counts what one request costs and compares it with the checked-in figures: calls of functions everywhere, instructions
 * by `perf` where the processor counts them, else by valgrind where it is installed. Valgrind takes a minute, so it counts only under
 * CI=true and for `npm run cost -- --write`, which writes the figures of this machine. `--only hello` counts one scenario.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { canCountInstructions } from "../bench/instructions.js";
import { ROOT } from "../../support/sources.js";
import { callsPerRequest, instructionsPerRequest } from "./count.js";
import { hasValgrind, instructionsByValgrind } from "./valgrind.js";
import { type Costs, type Figures, judge, type Scenario, SCENARIOS, withCosts } from "./figures.js";

/**
 * Calls differ by what a timer does meanwhile, instructions of `perf` by the moments of compilation. Four counts of valgrind on a
 * busy machine lay within 1.6 % of their mean, so that 5 % more is found.
 */
const TOLERANCE = { calls: 0.02, perf: 0.05, valgrind: 0.03 };

const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    figures: { type: "string", default: join(ROOT, "spec/tools/cost/figures.json") },
    requests: { type: "string" },
    only: { type: "string" },
  },
});

/** A count that is slow needs fewer requests, because it differs less. */
const PERF_REQUESTS = 10_000;
const VALGRIND_REQUESTS = 2000;

const isPatient = process.env["CI"] === "true" || values.write;

const node = `${process.version.split(".")[0]} ${process.arch}`;

/** How this machine counts instructions. */
interface Counter {
  readonly tolerance: number;
  /** The name of its figures. */
  readonly machine: string;
  readonly count: (scenario: Scenario) => Promise<number>;
}

function counter(): Counter | undefined {
  if (canCountInstructions()) return { tolerance: TOLERANCE.perf, machine: node, count: countByPerf };
  if (isPatient && hasValgrind())
    return { tolerance: TOLERANCE.valgrind, machine: `${node} valgrind`, count: countByValgrind };
  return undefined;
}

function countByPerf(scenario: Scenario): Promise<number> {
  const requests = Number(values.requests ?? PERF_REQUESTS);
  return instructionsPerRequest(scenario, { warmUp: 3 * requests, requests, rounds: 3 });
}

function countByValgrind(scenario: Scenario): Promise<number> {
  return instructionsByValgrind(scenario, Number(values.requests ?? VALGRIND_REQUESTS));
}

async function each(count: (scenario: Scenario) => Promise<number>): Promise<Costs> {
  const costs: Partial<Record<Scenario, number>> = {};
  for (const scenario of SCENARIOS.filter((name) => name === (values.only ?? name)))
    costs[scenario] = await count(scenario);
  return costs;
}

function countInstructions(by: Counter | undefined): Promise<Costs> | Costs {
  if (by !== undefined) return each(by.count);
  const counting = isPatient ? "valgrind is not installed" : "valgrind counts for a minute under CI=true";
  console.log(`instructions are not counted: perf has no counter on this machine, and ${counting}`);
  return {};
}

// The figures are written by this program.
const figures = JSON.parse(readFileSync(values.figures, "utf8")) as Figures;
const calls = await each(callsPerRequest);
const counted = counter();
const instructions = await countInstructions(counted);
const machine = counted?.machine ?? node;
const verdicts = [
  ...judge("calls", calls, figures.calls, TOLERANCE.calls),
  ...judge("instructions", instructions, figures.instructions[machine] ?? {}, counted?.tolerance ?? 0),
];
for (const { line } of verdicts) console.log(line);
if (values.write) {
  writeFileSync(values.figures, `${JSON.stringify(withCosts(figures, calls, machine, instructions), undefined, 2)}\n`);
} else if (verdicts.some(({ failed }) => failed)) {
  console.error("\na request costs more; find what was added, or write the new figures: npm run cost -- --write");
  process.exitCode = 1;
}
