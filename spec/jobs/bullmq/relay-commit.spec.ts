/** The relay after a commit, under a clock that stands still: no poll comes, so only the commit can wake it. */
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { temporaryFolder } from "../../db/shop-database.js";
import { needs } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";

const counted = job<number>("counted");

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

/** Returns the jobs that ran while no time passed. */
async function runAtCommit(driver: DatabaseDriver): Promise<readonly number[]> {
  await using server = await RedisServer.start();
  const clock = new FakeClock();
  await using db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const counter = new Counter();
  const jobs = new Jobs({ store: new BullJobs({ url: server.url, database: db }) });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [counter] });
  await jobs.start();
  await jobs.beginWork("worker");

  for (const number of [1, 2, 3, 4, 5]) {
    await db.transaction(async () => {
      await jobs.dispatch(counted, number);
      // The transaction lasts longer than a look of the relay at the table.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    });
    await until(() => counter.seen.length === number);
  }
  await jobs.endWork(1000);
  await jobs.stop();
  return counter.seen;
}

describe("the relay of BullJobs after a commit", function () {
  this.timeout(30_000);
  before(function () {
    needRedis(this);
  });

  it("moves the row of the transaction at once from SQLite", async () => {
    await using folder = await temporaryFolder();

    const seen = await runAtCommit(sqlite(folder.file("jobs.db")));

    expect(seen).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("moves the row of the transaction at once from PostgreSQL", async function () {
    needs("postgres").call(this);
    await using server = await PostgresServer.borrow();

    const seen = await runAtCommit(postgres({ url: server.url }));

    expect(seen).to.deep.equal([1, 2, 3, 4, 5]);
  });
});
