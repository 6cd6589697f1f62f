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

const DEFAULTS = {
  rounds: "5",
  seconds: "3",
  "warm-up": "6",
  connections: "64",
  mebibytes: "1024",
  jobs: "10000",
} as const;

const FLAGS = {
  scenario: { type: "string" },
  only: { type: "string" },
  before: { type: "string" },
  rounds: { type: "string" },
  seconds: { type: "string" },
  "warm-up": { type: "string" },
  connections: { type: "string" },
  mebibytes: { type: "string" },
  jobs: { type: "string" },
  list: { type: "boolean" },
  page: { type: "boolean" },
  nodes: { type: "string" },
} as const;

/** The flags of a command without `--`, each with its value. */
export type BenchFlags = Readonly<Record<string, string>>;

export const USAGE = `npm run bench -- --list
npm run bench -- [--scenario hello,param,…] [--only node,stagecraft,fastify] [--before <folder>] [--rounds 5] [--seconds 3] [--warm-up 6] [--connections 64] [--mebibytes 1024] [--jobs 10000]
npm run bench -- --page [--nodes 24,22] [--scenario full,db,…] [--rounds 5, or another option that the tables shall have]`;

/** What a run does: it names the scenarios, prints tables, or writes those of the page. */
export function parseMode(argv: readonly string[]): "list" | "tables" | "page" {
  const { list: isList, page } = flagsIn(argv);
  if (isList === true) return "list";
  return page === true ? "page" : "tables";
}

/** @throws Error naming the value when a number is not positive or a scenario is unknown. */
export function parseOptions(argv: readonly string[], known: readonly string[]): BenchOptions {
  const given = flagsIn(argv);
  const values = { ...DEFAULTS, ...given };
  const scenarios = given.scenario === undefined ? known : list(given.scenario).flatMap((name) => expand(name, known));
  return {
    scenarios,
    only: given.only === undefined ? undefined : list(given.only),
    before: given.before,
    rounds: positive("rounds", values.rounds),
    seconds: positive("seconds", values.seconds),
    warmUp: positive("warm-up", values["warm-up"]),
    connections: positive("connections", values.connections),
    mebibytes: positive("mebibytes", values.mebibytes),
    jobs: positive("jobs", values.jobs),
  };
}

/** The major versions of Node in `--nodes`, in their order. */
export function parseNodes(argv: readonly string[]): readonly number[] {
  return list(flagsIn(argv).nodes ?? "24,22").map((major) => positive("nodes", major));
}

/** The flags with which a scenario of the page runs: those of the page, then those that are given. */
export function pageFlags(argv: readonly string[], ofPage: BenchFlags): BenchFlags {
  const ofRun = ["scenario", "nodes"];
  const given = Object.entries(flagsIn(argv)).flatMap(([name, value]) =>
    typeof value === "string" && !ofRun.includes(name) ? [[name, value] as const] : [],
  );
  return { ...ofPage, ...Object.fromEntries(given) };
}

/** @returns the arguments of a command that runs one scenario with these flags */
export function argumentsOf(scenario: string, flags: BenchFlags): readonly string[] {
  return ["--scenario", scenario, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
}

function flagsIn(argv: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>["values"] {
  return parseArgs({ args: [...argv], options: FLAGS }).values;
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
