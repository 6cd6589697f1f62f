/**
 * Instructions of a request, counted by valgrind: for machines whose processor does not count them for `perf`. Valgrind runs every
 * instruction of the server itself, so it counts the same on every machine, and about 30 times as slowly. The figures of `perf` and of
 * valgrind are not comparable: here V8 compiles nothing for speed, so that each request costs the same from the first hundreds on.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ours } from "../bench/contender.js";
import { freePort } from "../../support/free-port.js";
import { announcedPort, ask } from "./requests.js";
import type { Scenario } from "./figures.js";

/** Requests after which the first of everything is over: shapes of objects, buffers, lines of the log. */
const WARM_UP = 500;

/** One thread, fixed seeds, a collection of garbage after so many bytes and not after a time, and no compilation for speed. */
const REPEATABLE = [
  "--single-threaded",
  "--predictable",
  "--predictable-gc-schedule",
  "--hash-seed=1",
  "--random-seed=1",
  "--no-opt",
];

/** The sum without a simulation of caches. V8 writes code while it runs: valgrind must check whether code has changed. */
const COUNTING = ["--tool=cachegrind", "--cache-sim=no", "--smc-check=all-non-file", "--cachegrind-out-file=/dev/null"];

/** With commas between the thousands. */
const COUNT = /I\s+refs:\s+([\d,]+)/;

export function hasValgrind(): boolean {
  return spawnSync("valgrind", ["--version"]).status === 0;
}

/** The difference between a server with few requests and one with more: the start and the end of the process fall away. */
export async function instructionsByValgrind(scenario: Scenario, requests: number): Promise<number> {
  const [few, many] = await Promise.all([
    instructionsOfServer(scenario, WARM_UP),
    instructionsOfServer(scenario, WARM_UP + requests),
  ]);
  return (many - few) / requests;
}

async function instructionsOfServer(scenario: Scenario, requests: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "valgrind-"));
  const log = join(folder, "log");
  const child = await started(scenario, log);
  try {
    // One connection: which of several is served first depends on the moment.
    await ask(scenario, await announcedPort(child), requests, 1);
    const ended = once(child, "exit");
    child.send("end");
    await ended;
    return Number(COUNT.exec(readFileSync(log, "utf8"))?.[1]?.replaceAll(",", ""));
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

async function started(scenario: Scenario, log: string): Promise<ChildProcess> {
  const ender = new URL("end-on-message.js", import.meta.url).href;
  const program = [process.execPath, ...REPEATABLE, "--import", ender, ours().script, scenario];
  return spawn("valgrind", [...COUNTING, `--log-file=${log}`, ...program], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    // The program would choose a port by V8's random numbers, which are always the same here.
    env: { ...process.env, NODE_ENV: "production", PORT: String(await freePort()) },
  });
}
