/** The limits of jobs at once in BullMQ: of a queue in one process, and of a key, which BullMQ does not have. */
import { EventEmitter, once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { job, Jobs, type JobsOptions } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { createHandler } from "../../../lib/testing/contracts/queue-trial.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";

const slow = job("slow", undefined, { queue: "slow" });
const fast = job("fast");
const bounded = job<string>("bounded", undefined, { concurrency: { key: (tenant) => tenant, limit: 1 } });
const COUNT = 5;

async function started(url: string, handlers: readonly object[], options: JobsOptions = {}): Promise<Jobs> {
  const jobs = new Jobs({ ...options, store: new BullJobs({ url }) });
  jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => handlers });
  await jobs.start();
  return jobs;
}

describe("jobs at once in BullMQ", function () {
  this.timeout(60_000);
  let server: RedisServer;
  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
  });
  after(() => server?.kill());

  it("are bounded by the concurrency of their queue, which does not reduce that of other queues", async () => {
    const gate = new EventEmitter().setMaxListeners(COUNT);
    const open = (): unknown => gate.emit("open");
    let [now, most, slowRuns, fastRuns] = [0, 0, 0, 0];
    const handlers = [
      createHandler(slow, async () => {
        now += 1;
        most = Math.max(most, now);
        await once(gate, "open");
        now -= 1;
        slowRuns += 1;
      }),
      createHandler(fast, () => void (fastRuns += 1)),
    ];
    const jobs = await started(server.url, handlers, { concurrency: 10, queueConcurrency: { slow: 2 } });
    for (let each = 0; each < COUNT; each++) await Promise.all([jobs.dispatch(slow), jobs.dispatch(fast)]);
    await jobs.beginWork("worker");
    await until(() => now === 2 && fastRuns === COUNT);
    await until(() => {
      open();
      return slowRuns === COUNT;
    });
    await jobs.endWork(1000);
    await jobs.stop();

    expect(most).to.equal(2);
  });

  it("are refused if a job has a limit for each key, at the dispatch and at the start of a worker", async () => {
    const jobs = await started(server.url, [createHandler(bounded, () => {})]);
    const errors = [await rejectionOf(jobs.dispatch(bounded, "a")), await rejectionOf(jobs.beginWork("worker"))];
    await jobs.endWork(0);
    await jobs.stop();

    for (const error of errors) {
      expect(error).to.include({ code: "E_JOB_CONCURRENCY" });
      expect(String(error)).to.match(/BullJobs.*bounded.*concurrency/);
    }
  });
});
