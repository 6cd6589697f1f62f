/**
 * The killing run: thousands of jobs, and what happens to workers in production. Workers are killed with SIGKILL at random, one is stopped past
 * its death and continued, a new version of the program takes the place of the old one, responses are lost, the server is slow for a while,
 * and then down for 40 s. At the end each job has run, none is a dead letter, and none has run twice at once.
 *
 * @example
 * npm run jobs:kill -- 100000 --on postgres
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { SystemClock } from "@stagecraft/framework";
import { jobsMigrations } from "../../../lib/jobs/stores/database/job-migrations.js";
import { killDatabase, killStore, startEngine } from "./jobs-engine.js";
import { countedJob, newJob } from "./jobs-worker.js";
import { readJournal } from "./jobs-journal.js";

const WORKERS = 4;
const KILLS = 12;
const KILL_EVERY_MS = 1500;
const LOST_EVERY_MS = 700;
/** The time with a round trip of 100 ms. */
const FAR_MS = 10_000;
/** Longer than the time after which a silent worker is dead. */
const GONE_MS = 40_000;
/** The jobs are dispatched in parts, one each half second, so that some come in each of the troubles. */
const PARTS = 140;

const { values, positionals } = parseArgs({
  options: { on: { type: "string", default: "sqlite" } },
  allowPositionals: true,
});
const count = Number(positionals[0] ?? 20_000);
const limitMs = 300_000 + count * 5;
const folder = mkdtempSync(join(tmpdir(), "jobs-kill-"));
const journal = join(folder, "journal");
writeFileSync(journal, "");
const engine = await startEngine(values.on, folder);
const { proxy } = engine;

/** When each process was killed, by its id. */
const deaths = new Map<number, number>();
const workers: ChildProcess[] = [];
let version = "1";
let hasEnded = false;
let events = "";

function startWorker(): void {
  const program = fileURLToPath(new URL("jobs-worker.js", import.meta.url));
  const env = { ...process.env, ...engine.env, JOBS_JOURNAL: journal, JOBS_WORKER: version, NODE_ENV: "production" };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (events += text));
  workers.push(child);
  // A response that is lost at the start ends the process, which the platform starts again.
  child.once("exit", () => {
    if (!workers.includes(child) || hasEnded) return;
    workers.splice(workers.indexOf(child), 1);
    setTimeout(() => {
      if (!hasEnded) startWorker();
    }, 500);
  });
}

/** Ends a worker, and starts one of the version of today. */
async function replace(child: ChildProcess | undefined, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null) return;
  workers.splice(workers.indexOf(child), 1);
  child.kill(signal);
  await once(child, "exit");
  if (signal === "SIGKILL") deaths.set(child.pid, Date.now());
  startWorker();
}

async function deploy(): Promise<void> {
  version = "2";
  const old = workers.slice();
  for (const child of old) await replace(child, "SIGTERM");
}

process.once("exit", () => {
  for (const child of workers) child.kill("SIGKILL");
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const database = killDatabase(engine.own);
const metrics = new Metrics();
const clock = new SystemClock();
database?.prepare({ name: "database", clock, metrics });
await database?.start();
if (database !== undefined) for (const migration of jobsMigrations) await migration.up(database.query);
const jobs = new Jobs({ store: killStore(engine.own, database) });
jobs.prepare({ name: "jobs", clock, metrics });
await jobs.start();
for (let each = 0; each < WORKERS; each++) startWorker();

let dispatched = 0;
/** A part of the jobs, every third of them with the new name. */
async function dispatchSome(): Promise<void> {
  const numbers = Array.from({ length: Math.min(Math.ceil(count / PARTS), count - dispatched) }, () => dispatched++);
  const payloads = numbers.map((number) => ({ number, ms: Math.floor(Math.random() * 40) }));
  await jobs.dispatchAll(
    countedJob,
    payloads.filter(({ number }) => number % 3 > 0),
  );
  await jobs.dispatchAll(
    newJob,
    payloads.filter(({ number }) => number % 3 === 0),
  );
}

// One worker is stopped until others have taken its jobs, and then goes on.
const [stopped] = workers.splice(0, 1);
while (!readFileSync(journal, "utf8").includes(` ${stopped?.pid} `)) {
  await dispatchSome();
  await pause(100);
}
stopped?.kill("SIGSTOP");
startWorker();

/** Drops the next response of the server, and cuts its connection. */
function loseOne(): void {
  if (proxy !== undefined) proxy.cutsAt = (_, from) => from === "server";
}

async function troubles(): Promise<void> {
  await pause(8000);
  await deploy();
  const losing = setInterval(loseOne, LOST_EVERY_MS);
  for (let kills = 0; kills < KILLS; kills++) {
    await pause(KILL_EVERY_MS);
    await replace(workers[Math.floor(Math.random() * workers.length)], "SIGKILL");
  }
  proxy?.become({ delayMs: 50 });
  await pause(FAR_MS);
  proxy?.become({ isDown: true });
  await pause(proxy === undefined ? 0 : GONE_MS);
  proxy?.become({});
  clearInterval(losing);
  stopped?.kill("SIGCONT");
  if (stopped !== undefined) workers.push(stopped);
}

const began = Date.now();
const troubled = troubles();
for (; dispatched < count; await pause(500)) await dispatchSome();
await troubled;
for (;;) {
  await pause(250);
  const { waiting, running, dead } = await jobs.counts();
  if (waiting + running === 0) break;
  if (Date.now() - began > limitMs) throw new Error(`not done: ${waiting} wait, ${running} run, ${dead} are dead`);
}
await pause(2000);
const { dead } = await jobs.counts();
hasEnded = true;
for (const child of workers) {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
}
const verdict = readJournal(readFileSync(journal, "utf8"), { count, deaths, stoppedPid: stopped?.pid ?? 0 });
await jobs.stop();
await database?.stop();
await engine[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
const lines = (text: string): number => events.split("\n").filter((line) => line.includes(text)).length;
const facts = {
  on: values.on,
  jobs: count,
  killed: deaths.size,
  lost_responses: proxy?.cuts ?? 0,
  dead,
  refused_after_stop: lines("job lease lost"),
  without_handler: lines("no handler for job"),
};
console.log(JSON.stringify({ ...facts, ...verdict }, null, 2));
if (verdict.lost > 0 || verdict.twice_at_once > 0 || dead > 0) process.exitCode = 1;
