/**
 * Mocha loads this file before the specs (`require` in .mocharc.json). It prepares the machine, makes a pending spec a failure under
 * CI, makes a file that leaves a server or a process behind a failure, and writes the counts of each file for `.ci/specs.mjs`. Mocha runs the
 * files in several processes: the functions for the whole run run once, in the process that reports; the hooks run for each file. A run
 * of many files ends with those that cost most.
 */

import { appendFileSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { besideOthers, closeTurns, endTurn, openTurns } from "./alone.js";
import { beginCost, endCost, openCosts, printCosts } from "./file-costs.js";
import { prepareMachine } from "./machine.js";

// From Node 22 on, the processes of a run, those that specs start, and those of the next run share their compiled code.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("../../compiled", import.meta.url));
// The types are those of Node 20, which has no such method.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder?: string) => unknown };
enableCompileCache?.(process.env["NODE_COMPILE_CACHE"]);

// The samples that specs start as processes keep their data in memory, unless a spec names a file.
process.env["DATABASE_FILE"] ??= ":memory:";

/** How long a server or a process may take to close after the last test of its file. */
const CLOSING_MS = Number(process.env["SPECS_CLOSE_WITHIN_MS"] ?? 20_000);

/** Under CI a spec that is skipped, for a missing program or by hand, must not pass unseen. */
export async function mochaGlobalSetup(this: Mocha.Runner): Promise<void> {
  prepareMachine();
  await prepareServers();
  openTurns();
  openCosts();
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  countByFile(this);
  if (process.env["CI"] !== "true") return;
  // Mocha's own option does not reach the processes that run the files. The types hide the method from all but subclasses.
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  const runner = this as unknown as { fail(test: Mocha.Test, error: Error, isForced: boolean): void };
  // oxlint-disable-next-line oxc/no-this-in-exported-function
  this.on("pending", (test) => runner.fail(test, new Error("Pending test forbidden"), true));
}

/** The first data folder of a server takes longer than a hook may on a busy machine. */
async function prepareServers(): Promise<void> {
  // Imported here, because the processes that run the files load this file too.
  const { preparePostgres } = await import("./postgres-server.js");
  const { prepareMariadb } = await import("./mariadb-server.js");
  preparePostgres();
  prepareMariadb();
}

interface Counts {
  passed: number;
  failed: number;
  pending: number;
}

/** By file; the empty name has the entries that belong to no file. */
const counts = new Map<string, Counts>();
let resultsFile: string | undefined;

/** For the file that `MOCHA_RESULTS` names. A mocha that a spec starts writes other results. */
function countByFile(runner: Mocha.Runner): void {
  resultsFile = process.env["MOCHA_RESULTS"];
  delete process.env["MOCHA_RESULTS"];
  runner.on("pass", (test) => (countsOf(test).passed += 1));
  runner.on("fail", (test) => (countsOf(test).failed += 1));
  runner.on("pending", (test) => (countsOf(test).pending += 1));
}

function countsOf({ file = "" }: Mocha.Runnable): Counts {
  const known = counts.get(file) ?? { passed: 0, failed: 0, pending: 0 };
  counts.set(file, known);
  return known;
}

/** Writes one line a run, `<passed> <failed> <pending>`, to the file that `MOCHA_COUNTS` names. */
export function mochaGlobalTeardown(this: Mocha.Runner): void {
  closeTurns();
  printCosts();
  const file = process.env["MOCHA_COUNTS"];
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- mocha passes its runner as `this`
  const { passes = 0, failures = 0, pending = 0 } = this.stats ?? {};
  if (file !== undefined) appendFileSync(file, `${passes} ${failures} ${pending}\n`);
  if (resultsFile !== undefined) writeFileSync(resultsFile, JSON.stringify([...counts]));
}

export const mochaHooks = { beforeAll: [besideOthers(), beginCost], afterAll: [endTurn, leavesNothing, endCost()] };

/** The resources that earlier files of this process have left open. They do not fail the files after them. */
let leftBefore: readonly string[] = [];

/**
 * In one process, mocha would wait for ever for the handles that a file leaves behind. Mocha kills the processes of a parallel run. A test
 * that failed at its time limit goes on and has its handles open; its failure says enough, and belongs to a file, as this one does not.
 */
async function leavesNothing(this: Mocha.Context): Promise<void> {
  // Mocha's own message would not name the handles that are left.
  this.timeout(CLOSING_MS + 60_000);
  const deadline = performance.now() + CLOSING_MS;
  while (leftBehind().length > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const left = leftBehind();
  leftBefore = openResources();
  const root = this.test?.parent;
  if (left.length > 0 && !(root !== undefined && hasFailedTest(root)))
    throw new Error(`the file leaves behind: ${left.join(", ")}`);
}

function hasFailedTest({ tests, suites }: Mocha.Suite): boolean {
  return tests.some((test) => test.isFailed()) || suites.some((suite) => hasFailedTest(suite));
}

/** The open handles, without those that earlier files have left. */
function leftBehind(): readonly string[] {
  const others = [...leftBefore];
  return openResources().filter((name) => {
    const at = others.indexOf(name);
    if (at !== -1) others.splice(at, 1);
    return at === -1;
  });
}

/** The names that Node gives to open listeners and running child processes. */
function openResources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((name) => /Server|^ProcessWrap$/.test(name));
}
