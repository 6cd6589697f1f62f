/** Dead letters of BullJobs: those in Redis and those in the table of its database, and several callers that retry one job. */
import { SystemClock } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, FinalJobError, Handles, job, Jobs, type JobsOptions } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { temporaryFolder } from "../../db/shop-database.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const work = job<number>("work");

class Worker {
  readonly seen: number[] = [];
  isReady = false;
  @Handles(work)
  run(number: number): void {
    if (!this.isReady) throw new FinalJobError("not ready");
    this.seen.push(number);
  }
}

class Instance implements AsyncDisposable {
  readonly worker = new Worker();
  readonly jobs: Jobs;

  private constructor(store: NonNullable<JobsOptions["store"]>) {
    this.jobs = new Jobs({ store });
    const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
    this.jobs.prepare({ ...host, instances: () => [this.worker] });
  }

  static async start(store: NonNullable<JobsOptions["store"]>): Promise<Instance> {
    const instance = new Instance(store);
    await instance.jobs.start();
    await instance.jobs.beginWork("worker");
    return instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.endWork(1000);
    await this.jobs.stop();
  }
}

describe("the dead letters of BullJobs with a database", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(function () {
    needRedis(this);
  });

  it("are those of Redis and of the database, the latest first, and each can be retried once", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(db);
    const ids: string[] = [];
    {
      // The application before it used BullMQ.
      await using before = await Instance.start(new DatabaseJobs(db));
      ids.push((await before.jobs.dispatch(work, 1)).id);
      await until(async () => (await before.jobs.counts()).dead === 1);
    }
    await using instance = await Instance.start(new BullJobs({ url: server.url, database: db }));
    const { jobs, worker } = instance;
    ids.push((await jobs.dispatch(work, 2)).id);
    await until(async () => (await jobs.counts()).dead === 2);
    const dead = await jobs.dead();
    const latest = await jobs.dead(1);
    worker.isReady = true;
    const retries: number[] = [];
    for (const id of ids) {
      const all = await Promise.all(Array.from({ length: 5 }, () => jobs.retry(id)));
      retries.push(all.filter(Boolean).length);
    }
    await until(() => worker.seen.length === 2);
    await until(async () => (await jobs.counts()).waiting + (await jobs.counts()).running === 0);

    expect(dead.map(({ id, reason }) => [id, reason])).to.deep.equal(
      ids.toReversed().map((id) => [id, "E_JOB_FINAL not ready"]),
    );
    expect(latest.map(({ id }) => id)).to.deep.equal([ids[1]]);
    expect(retries).to.deep.equal([1, 1]);
    expect(worker.seen).to.have.members([1, 2]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });
});
