/**
 * `npm run bench`: the framework beside its peers. Prints one markdown table per scenario. Not part of the test run.
 *
 * @example
 * npm run bench -- --scenario hello,param --only node,stagecraft,fastify --rounds 5 --seconds 3
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { keepAwake } from "./awake.js";
import { CACHE } from "./cache.js";
import { CONDUIT } from "./conduit.js";
import { DB } from "./db.js";
import { DEV } from "./dev.js";
import { JOBS } from "./jobs.js";
import { JOBS_DEEP } from "./jobs-deep.js";
import { loadGenerator } from "./load.js";
import { MICRO, runMicro } from "./micro.js";
import { type BenchOptions, parseOptions, USAGE } from "./options.js";
import { OTEL } from "./otel.js";
import { PASSWORDS } from "./passwords.js";
import { PEERS } from "./places.js";
import { REDIS } from "./redis.js";
import { runScenario } from "./rounds.js";
import { SCENARIOS } from "./scenario.js";
import { SIGN_IN_TIMES } from "./sign-in-times.js";
import { STORAGE } from "./storage.js";
import { runStart } from "./start.js";
import { TECHEMPOWER } from "./techempower.js";
import { UPLOADS } from "./uploads.js";

interface Part {
  readonly name: string;
  readonly what: string;
  run(options: BenchOptions): Promise<string>;
}

const PARTS: readonly Part[] = [
  ...SCENARIOS.map((scenario) => ({
    name: scenario.name,
    what: scenario.what,
    run: (options: BenchOptions) => runScenario(scenario, options),
  })),
  ...MICRO.map(({ name, what }) => ({ name, what, run: (options: BenchOptions) => runMicro(name, options) })),
  REDIS,
  STORAGE,
  CACHE,
  DB,
  ...TECHEMPOWER,
  CONDUIT,
  UPLOADS,
  PASSWORDS,
  SIGN_IN_TIMES,
  ...JOBS,
  JOBS_DEEP,
  OTEL,
  DEV,
  { name: "start", what: "cold start: from spawn to the first response 200", run: runStart },
];

/** The peers are a package of their own, installed at first use, and never by users of the framework. */
function installPeers(): void {
  if (existsSync(join(PEERS, "node_modules"))) return;
  console.error("installing the peers, once");
  execFileSync("npm", ["ci", "--prefix", PEERS], { stdio: ["ignore", 2, 2] });
}

function describeRun({ connections, rounds, seconds }: BenchOptions, isAwake: boolean): string {
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`;
  const load = `${loadGenerator}, ${connections} connections, ${rounds} rounds of ${seconds} s, medians`;
  return `${machine}, idle processors ${isAwake ? "awake" : "may sleep"}, ${load}`;
}

async function bench(options: BenchOptions): Promise<void> {
  installPeers();
  console.log(`${describeRun(options, keepAwake())}\n`);
  for (const part of PARTS.filter(({ name }) => options.scenarios.includes(name))) {
    console.log(`### ${part.name}: ${part.what}\n`);
    console.log(`${await part.run(options)}\n`);
  }
}

try {
  const names = PARTS.map(({ name }) => name);
  await bench(parseOptions(process.argv.slice(2), names));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
}
