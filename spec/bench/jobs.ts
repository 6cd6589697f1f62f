/**
 * Jobs without work, dispatched in bulk and worked off: a plain BullMQ program, `BullJobs` on the same Redis, and `DatabaseJobs` on
 * PostgreSQL, plain and with prefetch. Prints jobs per second.
 *
 * @example
 * node dist/spec/bench/jobs.js 20000
 */
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { SystemClock } from "@stagecraft/framework";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, Handles, job, Jobs, type JobsOptions } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { jobsDatabase, makeTables } from "../jobs/jobs-database.js";
import { PostgresServer } from "../support/postgres-server.js";
import { RedisServer } from "../support/redis-server.js";

const count = Number(process.argv[2] ?? 20_000);
const CONCURRENCIES = [1, 8, 32];
const BATCH = 500;
const noop = job<number>("noop");
const numbers = Array.from({ length: count }, (_, number) => number);

interface Rates {
  readonly added: number;
  readonly done: number;
}

class Counter {
  private left = count;
  readonly finished: Promise<void>;
  private finish: () => void = () => {};

  constructor() {
    this.finished = new Promise((resolve) => (this.finish = resolve));
  }

  @Handles(noop)
  run(): void {
    this.left -= 1;
    if (this.left === 0) this.finish();
  }
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return Math.round((count / (performance.now() - began)) * 1000);
}

async function plainBullmq(url: string, concurrency: number): Promise<Rates> {
  const client = () => new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue<number>("plain", { connection: client() });
  const added = await rateOf(async () => {
    for (let at = 0; at < count; at += BATCH) {
      const some = numbers.slice(at, at + BATCH);
      await queue.addBulk(some.map((data) => ({ name: "noop", data, opts: { removeOnComplete: true } })));
    }
  });
  const counter = new Counter();
  const worker = new Worker<number>("plain", async () => counter.run(), {
    connection: client(),
    concurrency,
    autorun: false,
  });
  const done = await rateOf(() => {
    void worker.run();
    return counter.finished;
  });
  await worker.close();
  await queue.close();
  return { added, done };
}

async function ours(options: JobsOptions): Promise<Rates> {
  const counter = new Counter();
  const jobs = new Jobs(options);
  jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [counter] });
  await jobs.start();
  const added = await rateOf(() => jobs.dispatchAll(noop, numbers));
  const done = await rateOf(async () => {
    await jobs.beginWork("worker");
    await counter.finished;
  });
  await jobs.endWork(5000);
  await jobs.stop();
  return { added, done };
}

function show(what: string, { added, done }: Rates): void {
  console.log(`${what.padEnd(44)} added ${String(added).padStart(7)}/s   worked off ${String(done).padStart(7)}/s`);
}

await using redis = await RedisServer.start();
for (const concurrency of CONCURRENCIES) {
  show(`plain BullMQ, concurrency ${concurrency}`, await plainBullmq(redis.url, concurrency));
  show(`BullJobs, concurrency ${concurrency}`, await ours({ store: new BullJobs({ url: redis.url }), concurrency }));
}
await using server = await PostgresServer.start();
await using db = await jobsDatabase(postgres({ url: server.url }), new SystemClock());
for (const concurrency of CONCURRENCIES) {
  for (const prefetch of [0, 500]) {
    await makeTables(db);
    const rates = await ours({ store: new DatabaseJobs(db), concurrency, prefetch });
    show(`DatabaseJobs on PostgreSQL, concurrency ${concurrency}, prefetch ${prefetch}`, rates);
  }
}
process.exit();
