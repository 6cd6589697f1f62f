/** Jobs in BullMQ over a Redis server: the contract, keys, and the relay out of a database. */
import { SystemClock } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { obeysQueue } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { temporaryFolder } from "../../db/shop-database.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";
import { errorOf } from "../../support/error-of.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const counted = job<number>("counted");

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

/** A check that must find no job waits a moment. A condition is checked until it is true. */
const aMoment = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 200)));

describe("BullJobs", function () {
  this.timeout(60_000);
  this.slow(20_000);
  before(function () {
    needRedis(this);
  });

  it("obeys the contract of a queue", async () => {
    await using server = await RedisServer.start();
    await obeysQueue((options) => new Jobs({ ...options, store: new BullJobs({ url: server.url }) }), {
      clock: new SystemClock(),
      pass: aMoment,
    });
  });

  it("obeys the contract of a queue with a database", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    const clock = new SystemClock();
    await using database = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(database);
    await obeysQueue((options) => new Jobs({ ...options, store: new BullJobs({ url: server.url, database }) }), {
      clock,
      pass: aMoment,
    });
  });

  it("moves jobs out of a database after their transaction has committed, and no job of a transaction that rolled back", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    const clock = new SystemClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(db);
    const counter = new Counter();
    const jobs = new Jobs({ store: new BullJobs({ url: server.url, database: db }) });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [counter] });
    await jobs.start();
    await jobs.beginWork("worker");

    const failed = db.transaction(async () => {
      await jobs.dispatch(counted, 1);
      throw new Error("rolled back");
    });
    await failed.catch(() => {});
    await db.transaction(async () => {
      await jobs.dispatch(counted, 2);
      await jobs.dispatch(counted, 3, { key: "k", unique: "until-done" });
    });
    await until(() => counter.seen.length === 2);
    await until(async () => (await jobs.counts()).waiting + (await jobs.counts()).running === 0);
    await jobs.endWork(1000);
    await jobs.stop();

    expect(counter.seen.toSorted((one, other) => one - other)).to.deep.equal([2, 3]);
  });

  it("refuses a URL of another scheme without showing it", () => {
    const error = errorOf(() => new BullJobs({ url: "http://user:secret@host" }));

    expect(error).to.include({ code: "E_JOBS_URL" });
    expect(String(error)).not.to.include("secret");
  });
});
