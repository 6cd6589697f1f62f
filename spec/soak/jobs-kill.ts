/**
 * The killing run: thousands of jobs, and workers that are killed with SIGKILL at random, or stopped past their death and continued. At
 * the end each job has run, and no job has run twice at once.
 *
 * @example
 * npm run jobs:kill -- 20000 --on postgres
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DatabaseJobs, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { SystemClock } from "@stagecraft/framework";
import { jobsMigrations } from "../../lib/jobs/job-migrations.js";
import { killDatabase, startEngine } from "./jobs-engine.js";
import { countedJob } from "./jobs-worker.js";
import { readJournal } from "./jobs-journal.js";

const WORKERS = 4;
const KILL_EVERY_MS = 1500;
/** Longer than the time after which a silent worker is dead. */
const STOPPED_MS = 45_000;

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

/** When each process was killed, by its id. */
const deaths = new Map<number, number>();
const workers: ChildProcess[] = [];
let events = "";

function startWorker(): void {
  const program = fileURLToPath(new URL("jobs-worker.js", import.meta.url));
  const env = { ...process.env, ...engine.env, JOBS_JOURNAL: journal, JOBS_WORKER: "1", NODE_ENV: "production" };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (events += text));
  workers.push(child);
}

async function killOne(): Promise<void> {
  const [child] = workers.splice(Math.floor(Math.random() * workers.length), 1);
  if (child?.pid === undefined) return;
  child.kill("SIGKILL");
  await once(child, "exit");
  deaths.set(child.pid, Date.now());
  startWorker();
}

process.once("exit", () => {
  for (const child of workers) child.kill("SIGKILL");
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const database = killDatabase(engine.env);
const metrics = new Metrics();
const clock = new SystemClock();
database.prepare({ name: "database", clock, metrics });
await database.start();
for (const migration of jobsMigrations) await migration.up(database.query);
const jobs = new Jobs({ store: new DatabaseJobs(database) });
jobs.prepare({ name: "jobs", clock, metrics });
for (let at = 0; at < count; at += 1000) {
  const payloads = Array.from({ length: Math.min(1000, count - at) }, (_, index) => ({
    number: at + index,
    ms: Math.floor(Math.random() * 40),
  }));
  await jobs.dispatchAll(countedJob, payloads);
}
for (let each = 0; each < WORKERS; each++) startWorker();

// One worker is stopped until others have taken its jobs, and then goes on.
const [stopped] = workers.splice(0, 1);
while (!readFileSync(journal, "utf8").includes(` ${stopped?.pid} `)) await pause(20);
stopped?.kill("SIGSTOP");
startWorker();
const stoppedAt = Date.now();
let isStopped = true;
const continueStopped = (): void => {
  if (!isStopped || stopped === undefined) return;
  isStopped = false;
  stopped.kill("SIGCONT");
  workers.push(stopped);
};

const began = Date.now();
let lastKill = began;
for (;;) {
  await pause(250);
  const { waiting, running, dead } = await jobs.counts();
  if (Date.now() - stoppedAt > STOPPED_MS) continueStopped();
  if (waiting + running === 0 && !isStopped) break;
  if (Date.now() - began > limitMs) throw new Error(`not done: ${waiting} wait, ${running} run, ${dead} are dead`);
  const isBusy = waiting > count / 50;
  if (isBusy && Date.now() - lastKill > KILL_EVERY_MS) {
    lastKill = Date.now();
    await killOne();
  }
}
await pause(2000);
const { dead } = await jobs.counts();
for (const child of workers) {
  child.kill("SIGTERM");
  await once(child, "exit");
}
const verdict = readJournal(readFileSync(journal, "utf8"), {
  count,
  deaths,
  stoppedPid: stopped?.pid ?? 0,
});
await database.stop();
await engine[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
const refused = events.split("\n").filter((line) => line.includes("job lease lost")).length;
console.log(
  JSON.stringify(
    { on: values.on, jobs: count, killed: deaths.size, dead, refused_after_stop: refused, ...verdict },
    null,
    2,
  ),
);
if (verdict.lost > 0 || verdict.twice_at_once > 0 || dead > 0 || refused === 0) process.exitCode = 1;
