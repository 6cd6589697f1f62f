/**
 * `npm run bench -- --page`: runs the scenarios of `docs/guide/speed.md` on two versions of Node, stores what they print, and writes the
 * tables of the page. A scenario that runs again replaces what it has stored.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { argumentsOf, type BenchFlags, pageFlags, parseNodes, parseOptions } from "./options.js";
import { filledPage, type StoredRun, type StoredRuns, tablesIn } from "./page-tables.js";
import { PARTS } from "./parts.js";
import { MACHINE, ROOT } from "./places.js";

/** The page, from the repository. */
export const PAGE = "docs/guide/speed.md";

/** Long enough for ratios, short enough for both versions of Node within half an hour. */
const SHORT: BenchFlags = { rounds: "2", seconds: "2", "warm-up": "2" };

const short = (only?: string): BenchFlags => (only === undefined ? SHORT : { only, ...SHORT });

/** The scenarios of the page in their order, each with the flags that it has unless the command says others. */
export const PAGE_SCENARIOS: Readonly<Record<string, BenchFlags>> = {
  hello: short("node,stagecraft,fastify,hono,nest-fastify,koa,express"),
  param: short("node,stagecraft,fastify,nest-fastify,koa"),
  "routes:1000": short("node,stagecraft,fastify"),
  echo: short("node,stagecraft,fastify,nest-fastify"),
  "echo-schema": short("fastify,nest-fastify,stagecraft-without,stagecraft"),
  observe: short("stagecraft-without,stagecraft,fastify-by-hand,fastify,node"),
  // With all stages on, V8 compiles for longer; p99 would measure that.
  full: {
    only: "node,stagecraft,fastify,fastify-by-hand,nest-fastify,koa,express",
    rounds: "2",
    seconds: "3",
    "warm-up": "6",
  },
  // As many connections as a proxy keeps open. Each response takes most of a millisecond, so a short run has few of them.
  "workers:busy": { rounds: "3", seconds: "4", "warm-up": "4", connections: "16" },
  "workers:hello": SHORT,
  "workers:spread": { rounds: "2", seconds: "2" },
  page: short(),
  document: short(),
  session: short("node,stagecraft,fastify,koa"),
  db: short("node,stagecraft,stagecraft-prepared"),
  "jobs:postgres": { rounds: "1", jobs: "3000" },
  "jobs:redis": { only: "bullmq,bull-jobs,bull-jobs-postgres", rounds: "1", jobs: "5000" },
  "jobs:claim": { jobs: "10000" },
  start: { rounds: "5" },
};

/** Where the runs of a version are stored, from the repository. */
export function storePath(major: number): string {
  return `spec/tools/bench/page/node-${major}.json`;
}

/** What is stored of a version, by the name of the scenario; empty without a run. */
export function storedRuns(major: number): StoredRuns {
  const path = join(ROOT, storePath(major));
  // Only `store` below writes these files.
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as StoredRuns) : {};
}

/** The versions of the page, the first one first. */
export const PAGE_NODES: readonly number[] = [24, 22];

/** Runs what `argv` asks for on each version in `--nodes`; a version that does not run this process comes by npx. */
export async function measurePage(argv: readonly string[], isAwake: boolean): Promise<void> {
  for (const major of parseNodes(argv)) {
    if (process.versions.node.startsWith(`${major}.`)) await measureHere(major, argv, isAwake);
    else await measureUnder(major, argv);
  }
}

async function measureHere(major: number, argv: readonly string[], isAwake: boolean): Promise<void> {
  const names = Object.keys(PAGE_SCENARIOS);
  const { scenarios } = parseOptions(argv, names);
  for (const name of names.filter((each) => scenarios.includes(each))) {
    const began = performance.now();
    await store(major, name, await runOf(name, pageFlags(argv, PAGE_SCENARIOS[name] ?? {}), isAwake));
    console.log(`Node ${major}, ${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
}

async function runOf(scenario: string, flags: BenchFlags, awake: boolean): Promise<StoredRun> {
  const part = PARTS.find(({ name }) => name === scenario);
  if (part === undefined) throw new Error(`no scenario "${scenario}"`);
  const options = argumentsOf(scenario, flags);
  const output = await part.run(parseOptions(options, [scenario]));
  const tables = tablesIn(output);
  if (tables.length === 0) throw new Error(`${scenario} has no table: ${output}`);
  const command = `npm run bench -- ${options.join(" ")}`;
  const date = new Date().toISOString().slice(0, 10);
  return { node: process.version, machine: MACHINE, awake, date, trial: isTrial(scenario, flags), command, tables };
}

/** Whether a run is shorter than the page asks for. */
function isTrial(scenario: string, flags: BenchFlags): boolean {
  const asked = PAGE_SCENARIOS[scenario] ?? {};
  return ["rounds", "seconds", "warm-up", "jobs"].some((name) => Number(flags[name]) < Number(asked[name]));
}

/** Writes after each scenario, so that an end in between loses only the one that runs. */
async function store(major: number, scenario: string, run: StoredRun): Promise<void> {
  const runs: StoredRuns = { ...storedRuns(major), [scenario]: run };
  const inOrder = Object.keys(PAGE_SCENARIOS).flatMap((name) => (runs[name] === undefined ? [] : [[name, runs[name]]]));
  await write(storePath(major), JSON.stringify(Object.fromEntries(inOrder)));
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  await write(PAGE, filledPage(page, PAGE_NODES.map(storedRuns)));
}

async function write(path: string, text: string): Promise<void> {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), await formatted(path, text));
}

/** The text as the formatter of the repository writes that file. */
export async function formatted(path: string, text: string): Promise<string> {
  const filepath = join(ROOT, path);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

/** The last `--nodes` counts. An outer npm gives settings to npx by the environment. */
async function measureUnder(major: number, argv: readonly string[]): Promise<void> {
  const program = ["node", process.argv[1] ?? "", ...argv, "--nodes", String(major)];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const child = spawn("npx", ["--yes", "--package", `node@${major}`, "--", ...program], { stdio: "inherit", env });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the run on Node ${major} ended with ${String(code)}`);
}
