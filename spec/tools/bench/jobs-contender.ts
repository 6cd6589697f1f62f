/**
 * The contenders of the scenario `jobs` that need no peer: a plain BullMQ program; `BullJobs` without a database, with SQLite or PostgreSQL,
 * and with its dispatches in their transactions; `DatabaseJobs` on PostgreSQL, without and with jobs that are claimed ahead. One run is a
 * process of its own.
 *
 * @example
 * node dist/spec/tools/bench/jobs-contender.js bull-jobs redis://127.0.0.1:6379 10000 8
 * node dist/spec/tools/bench/jobs-contender.js bull-jobs-postgres redis://127.0.0.1:6379 postgres://owner@127.0.0.1/shop 10000 8
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, Handles, job, Jobs, type JobsOptions } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { type JobsDatabase, jobsDatabase, makeTables } from "../../jobs/jobs-database.js";
import { type JobsContender, printRates } from "./jobs-rates.js";

const [name = "", url = "", relayUrl = ""] = process.argv.slice(2);
const concurrency = Number(process.argv.at(-1));
const BATCH = 500;
const noop = job<number>("noop");

class Counter {
  ran: () => void = () => {};

  @Handles(noop)
  run(): void {
    this.ran();
  }
}

async function ours(options: JobsOptions): Promise<JobsContender> {
  const counter = new Counter();
  const jobs = new Jobs({ ...options, concurrency });
  jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [counter] });
  await jobs.start();
  return {
    addAll: (numbers) => jobs.dispatchAll(noop, numbers),
    add: (number) => jobs.dispatch(noop, number),
    work: async (ran) => {
      counter.ran = ran;
      await jobs.beginWork("worker");
      return { stop: () => jobs.endWork(5000) };
    },
  };
}

async function tablesIn(driver: DatabaseDriver): Promise<JobsDatabase> {
  const db = await jobsDatabase(driver, new SystemClock());
  await makeTables(db);
  return db;
}

async function onPostgres(prefetch: number): Promise<JobsContender> {
  return ours({ store: new DatabaseJobs(await tablesIn(postgres({ url }))), prefetch });
}

async function onRedis(relayed?: DatabaseDriver): Promise<JobsContender> {
  await flush();
  const database = relayed === undefined ? {} : { database: await tablesIn(relayed) };
  return ours({ store: new BullJobs({ url, ...database }) });
}

/** All jobs in bulk are one transaction. Each job that is added singly is one, so that figure measures the commits of the database. */
async function inTransactions(driver: DatabaseDriver): Promise<JobsContender> {
  await flush();
  const database = await tablesIn(driver);
  const contender = await ours({ store: new BullJobs({ url, database }) });
  return {
    addAll: (numbers) => database.transaction(() => contender.addAll(numbers)),
    add: (number) => database.transaction(() => contender.add(number)),
    work: (ran) => contender.work(ran),
  };
}

/** SQLite in a folder of this run. */
function fileDriver(): DatabaseDriver {
  const folder = mkdtempSync(join(tmpdir(), "jobs-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  return sqlite(join(folder, "jobs.db"));
}

/** Finished jobs that BullMQ remembers. */
async function flush(): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
}

function bullClient(): Redis {
  return new Redis(url, { maxRetriesPerRequest: null });
}

async function plainBullmq(): Promise<JobsContender> {
  await flush();
  const queue = new Queue<number>("plain", { connection: bullClient() });
  const opts = { removeOnComplete: true };
  return {
    addAll: async (numbers) => {
      for (let at = 0; at < numbers.length; at += BATCH)
        await queue.addBulk(numbers.slice(at, at + BATCH).map((data) => ({ name: "noop", data, opts })));
    },
    add: (number) => queue.add("noop", number, opts),
    work: async (ran) => {
      const worker = new Worker<number>("plain", async () => ran(), { connection: bullClient(), concurrency });
      return { stop: () => worker.close() };
    },
  };
}

const CONTENDERS: Readonly<Record<string, () => Promise<JobsContender>>> = {
  bullmq: plainBullmq,
  "bull-jobs": () => onRedis(),
  "bull-jobs-sqlite": () => onRedis(fileDriver()),
  "bull-jobs-postgres": () => onRedis(postgres({ url: relayUrl })),
  "relay-sqlite": () => inTransactions(fileDriver()),
  "relay-postgres": () => inTransactions(postgres({ url: relayUrl })),
  "database-jobs": () => onPostgres(0),
  "database-jobs-batched": () => onPostgres(BATCH),
};

const make = CONTENDERS[name];
if (make === undefined) throw new Error(`no contender ${name}`);
await printRates(await make());
