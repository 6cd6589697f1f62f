/**
 * `npm run cost` counts what one request costs and compares it with the checked-in figures: calls of functions everywhere, instructions
 * where the machine counts them. `npm run cost -- --write` writes the figures of this machine. `--only hello` counts one scenario.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { canCountInstructions } from "../bench/instructions.js";
import { ROOT } from "../support/sources.js";
import { callsPerRequest, instructionsPerRequest } from "./count.js";
import { type Costs, type Figures, judge, type Scenario, SCENARIOS, withCosts } from "./figures.js";

/** Calls differ by what a timer does meanwhile, instructions by the moments of compilation. */
const TOLERANCE = { calls: 0.02, instructions: 0.05 };

const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    figures: { type: "string", default: join(ROOT, "spec/cost/figures.json") },
    requests: { type: "string", default: "10000" },
    only: { type: "string" },
  },
});

const requests = Number(values.requests);
const machine = `${process.version.split(".")[0]} ${process.arch}`;

async function each(count: (scenario: Scenario) => Promise<number>): Promise<Costs> {
  const costs: Partial<Record<Scenario, number>> = {};
  for (const scenario of SCENARIOS.filter((name) => name === (values.only ?? name)))
    costs[scenario] = await count(scenario);
  return costs;
}

function countInstructions(): Promise<Costs> | Costs {
  if (!canCountInstructions()) {
    console.log("instructions are not counted: perf is missing, or this machine has no counter for them");
    return {};
  }
  return each((scenario) => instructionsPerRequest(scenario, { warmUp: 3 * requests, requests, rounds: 3 }));
}

// The figures are written by this program.
const figures = JSON.parse(readFileSync(values.figures, "utf8")) as Figures;
const calls = await each(callsPerRequest);
const instructions = await countInstructions();
const verdicts = [
  ...judge("calls", calls, figures.calls, TOLERANCE.calls),
  ...judge("instructions", instructions, figures.instructions[machine] ?? {}, TOLERANCE.instructions),
];
for (const { line } of verdicts) console.log(line);
if (values.write) {
  writeFileSync(values.figures, `${JSON.stringify(withCosts(figures, calls, machine, instructions), undefined, 2)}\n`);
} else if (verdicts.some(({ failed }) => failed)) {
  console.error("\na request costs more; find what was added, or write the new figures: npm run cost -- --write");
  process.exitCode = 1;
}
