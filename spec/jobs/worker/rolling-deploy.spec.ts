/** Deploys in which processes of two versions work on one queue: jobs, ticks and listeners that the older one does not know. */
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import type { Schema } from "../../../lib/runtime/standard-schema.js";
import {
  type AnyJob,
  DatabaseJobs,
  type Job,
  job,
  type JobStore,
  MemoryJobs,
  schedule,
} from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createHandler } from "../../../lib/testing/contracts/queue-trial.js";
import { temporaryFolder } from "../../db/shop-database.js";
import { eventsOf } from "../../support/events-of.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";
import { preparedJobs } from "../prepared-jobs.js";

const HOUR_MS = 3_600_000;
const once = { attempts: 1 };
const fresh: readonly (readonly [what: string, job: Job<undefined>])[] = [
  ["a job", job("orders.ship", undefined, once)],
  // The payload does not matter here.
  ["the tick of a schedule", schedule("orders.sweep", "0 3 * * *", once) as AnyJob as Job<undefined>],
  ["the call of a queued listener", job("on.order.placed.Newsletter.tell", undefined, once)],
];

describe("a rolling deploy", () => {
  for (const [what, added] of fresh)
    it(`keeps ${what} that the older process claims for the newer one, and does not count the claim as an attempt`, async () => {
      const clock = new FakeClock();
      const store = new MemoryJobs({ clock });
      const attempts: number[] = [];
      const handler = createHandler(added, (_, { attempt }) => void attempts.push(attempt));
      const older = preparedJobs([], { store }, clock).jobs;
      await older.beginWork("worker");
      await older.dispatch(added);
      await clock.advanceAsync(5000);
      expect(await store.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });

      const newer = preparedJobs([handler], { store }, clock).jobs;
      await newer.beginWork("worker");
      await older.endWork(0);
      await clock.advanceAsync(31_000);
      await newer.endWork(0);

      expect(attempts).to.deep.equal([1]);
      expect(await store.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
    });

  it("retries a job whose payload the older process refuses", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const seen: unknown[] = [];
    const [shape, newShape] = [job("mail.welcome", OLDER), job<string>("mail.welcome")];
    const older = preparedJobs([createHandler(shape, (payload) => void seen.push(payload))], { store }, clock).jobs;
    await older.beginWork("worker");
    await older.dispatch(newShape, "new");
    await clock.advanceAsync(500);
    await older.endWork(0);
    const newer = preparedJobs([createHandler(newShape, (payload) => void seen.push(payload))], { store }, clock).jobs;
    await newer.beginWork("worker");
    await clock.advanceAsync(5000);
    await newer.endWork(0);

    expect(seen).to.deep.equal(["new"]);
  });

  it("names the jobs without a handler in an event a minute and in a gauge, until a process has a handler", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const [ship] = fresh.map(([, added]) => added);
    const older = preparedJobs([], { store }, clock);
    const events = await eventsOf(async () => {
      await older.jobs.beginWork("worker");
      for (let each = 0; each < 3; each++) await older.jobs.dispatch(job("orders.ship"));
      await clock.advanceAsync(45_000);
    });
    const gauge = 'framework_jobs_unhandled{job="orders.ship",queue="default",subsystem="jobs"}';

    const named = events.filter((line) => line.includes("no handler for job"));
    expect(named).to.have.lengthOf(1);
    expect(named[0]).to.include("list the class with its @Handles under the providers");
    expect(older.metrics.render()).to.include(`${gauge} 3`);

    const newer = preparedJobs(ship === undefined ? [] : [createHandler(ship, () => {})], { store }, clock);
    await newer.jobs.beginWork("worker");
    await older.jobs.endWork(0);
    await clock.advanceAsync(60_000);
    await newer.jobs.endWork(0);

    expect(newer.metrics.render()).not.to.match(/framework_jobs_unhandled\{.*\} [1-9]/);
    expect(await store.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });
});

/** A schema that knows another payload. */
const OLDER: Schema = {
  "~standard": { version: 1, vendor: "spec", validate: () => ({ issues: [{ message: "wrong" }] }) },
};

/** Dead letters after a day: of names that no living worker lists for the queue. */
async function deadAfterDay(store: JobStore, clock: FakeClock): Promise<readonly string[]> {
  const jobs = preparedJobs([], { store }, clock).jobs;
  const worker = { id: "living", names: ["handled", "late"], queues: ["default"] };
  await store.heartbeat(worker);
  await jobs.dispatch(job("handled"));
  await jobs.dispatch(job("stranger"));
  await jobs.dispatch(job("handled", undefined, { queue: "other" }));
  const claims = await store.claim({ worker: "living", queues: undefined, limit: 9, leaseMs: 60_000 });
  await store.waitUnhandled(claims, 30_000);
  clock.advance(23 * HOUR_MS);
  expect(await store.reap(30_000)).to.deep.equal([]);
  clock.advance(2 * HOUR_MS);
  await store.heartbeat(worker);
  const reaped = await store.reap(30_000);
  expect(reaped.map(({ isDead, reason }) => `${isDead} ${reason.slice(0, 13)}`)).to.deep.equal(
    Array(2).fill("true E_JOB_UNKNOWN"),
  );
  expect((await store.dead(10)).map(({ reason }) => reason.slice(0, 13))).to.deep.equal(Array(2).fill("E_JOB_UNKNOWN"));
  return reaped.map(({ name, queue }) => `${name} ${queue}`).toSorted();
}

async function deadInDatabase(driver: DatabaseDriver): Promise<readonly string[]> {
  const clock = new FakeClock();
  await using db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const store = new DatabaseJobs(db);
  store.prepare({ clock });
  return await deadAfterDay(store, clock);
}

describe("a job that no process has handled for a day", function () {
  this.slow(5000);
  const expected = ["handled other", "stranger default"];

  it("is a dead letter in memory, unless a living worker handles its name on its queue", async () => {
    const clock = new FakeClock();
    expect(await deadAfterDay(new MemoryJobs({ clock }), clock)).to.deep.equal(expected);
  });

  it("is a dead letter on SQLite", async () => {
    await using folder = await temporaryFolder();
    expect(await deadInDatabase(sqlite(folder.file("jobs.db")))).to.deep.equal(expected);
  });

  it("is a dead letter on PostgreSQL", async function () {
    needs("postgres").call(this);
    await using server = await PostgresServer.borrow();
    expect(await deadInDatabase(postgres({ url: server.url }))).to.deep.equal(expected);
  });

  it("is a dead letter on MariaDB", async function () {
    needs("mariadbd").call(this);
    await using server = await MariadbServer.borrow();
    expect(await deadInDatabase(mysql({ url: server.url }))).to.deep.equal(expected);
  });
});
