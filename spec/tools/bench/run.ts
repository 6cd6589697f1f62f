/**
 * `npm run bench`: the framework beside its peers. Prints one markdown table per scenario, or measures the tables of `docs/guide/speed.md`.
 * Not part of the test run.
 *
 * @example
 * npm run bench -- --scenario hello,param --only node,stagecraft,fastify --rounds 5 --seconds 3
 * npm run bench -- --page
 * npm run bench -- --page --scenario full --rounds 5
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { keepAwake } from "./awake.js";
import { loadGenerator } from "./load.js";
import { type BenchOptions, parseMode, parseOptions, USAGE } from "./options.js";
import { measurePage } from "./page.js";
import { PARTS } from "./parts.js";
import { MACHINE, PEERS } from "./places.js";

/** The peers are a package of their own, installed at first use, and never by users of the framework. */
function installPeers(): void {
  if (existsSync(join(PEERS, "node_modules"))) return;
  console.error("installing the peers, once");
  execFileSync("npm", ["ci", "--prefix", PEERS], { stdio: ["ignore", 2, 2] });
}

function describeRun({ connections, rounds, seconds }: BenchOptions, isAwake: boolean): string {
  const load = `${loadGenerator}, ${connections} connections, ${rounds} rounds of ${seconds} s, medians`;
  return `Node ${process.version}, ${MACHINE}, idle processors ${isAwake ? "awake" : "may sleep"}, ${load}`;
}

async function measure(options: BenchOptions): Promise<void> {
  installPeers();
  console.log(`${describeRun(options, keepAwake())}\n`);
  for (const part of PARTS.filter(({ name }) => options.scenarios.includes(name))) {
    console.log(`### ${part.name}: ${part.what}\n`);
    console.log(`${await part.run(options)}\n`);
  }
}

function list(): void {
  const width = Math.max(...PARTS.map(({ name }) => name.length));
  for (const { name, what } of PARTS) console.log(`${name.padEnd(width)}  ${what}`);
}

async function bench(argv: readonly string[]): Promise<void> {
  const mode = parseMode(argv);
  if (mode === "list") return list();
  if (mode === "tables")
    return await measure(
      parseOptions(
        argv,
        PARTS.map(({ name }) => name),
      ),
    );
  installPeers();
  await measurePage(argv, keepAwake());
}

try {
  await bench(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
}
