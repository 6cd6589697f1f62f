/** The options of `npm run bench`, parsed once; an unknown name ends the run before it starts a server. */

import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Names of scenarios, in the order in which they run. */
  readonly scenarios: readonly string[];
  /** Names of contenders; `undefined` means all. */
  readonly only: readonly string[] | undefined;
  /** A built checkout of an earlier version: the contender "before" and the base of the ratios. */
  readonly before: string | undefined;
  readonly rounds: number;
  /** Length of one measurement. */
  readonly seconds: number;
  /**
   * Length of the load before each measurement, which does not count. With all stages on, V8 compiles for six to eight seconds, on the same
   * core as the server: after two seconds p99 would measure the compiler, at three to ten times its later value.
   */
  readonly warmUp: number;
  readonly connections: number;
  /** The size of the body of the scenario `storage`. */
  readonly mebibytes: number;
  /** The number of jobs in a measurement of the scenario `jobs`. */
  readonly jobs: number;
}

export const USAGE = `npm run bench -- [--scenario hello,param,…] [--only node,stagecraft,fastify] [--before <folder>] [--rounds 5] [--seconds 3] [--warm-up 6] [--connections 64] [--mebibytes 1024] [--jobs 10000]`;

/** @throws Error naming the value when a number is not positive or a scenario is unknown. */
export function parseOptions(argv: readonly string[], known: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      scenario: { type: "string" },
      only: { type: "string" },
      before: { type: "string" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "3" },
      "warm-up": { type: "string", default: "6" },
      connections: { type: "string", default: "64" },
      mebibytes: { type: "string", default: "1024" },
      jobs: { type: "string", default: "10000" },
    },
  });
  const scenarios =
    values.scenario === undefined ? known : list(values.scenario).flatMap((name) => expand(name, known));
  return {
    scenarios,
    only: values.only === undefined ? undefined : list(values.only),
    before: values.before,
    rounds: positive("rounds", values.rounds),
    seconds: positive("seconds", values.seconds),
    warmUp: positive("warm-up", values["warm-up"]),
    connections: positive("connections", values.connections),
    mebibytes: positive("mebibytes", values.mebibytes),
    jobs: positive("jobs", values.jobs),
  };
}

/** `routes` stands for `routes:10`, `routes:100` and `routes:1000`. */
function expand(name: string, known: readonly string[]): readonly string[] {
  const found = known.filter((candidate) => candidate === name || candidate.startsWith(`${name}:`));
  if (found.length === 0) throw new Error(`unknown scenario "${name}"; there are ${known.join(", ")}`);
  return found;
}

function list(text: string): readonly string[] {
  return text.split(",").map((part) => part.trim());
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} takes a positive number, not "${text}"`);
  return value;
}
