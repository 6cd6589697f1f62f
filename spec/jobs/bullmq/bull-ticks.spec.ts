/** The ticks of schedules in BullMQ without a database: a tick whose job is not added, or not recorded, and a clock that was ahead. */
import { SystemClock } from "@stagecraft/framework";
import { Handles, job, Jobs, type ScheduledTick } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { Redis } from "ioredis";
import { NewJobs } from "../../../lib/jobs/new-jobs.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

/** The job of a tick. The spec itself reads the clock, not the process. */
const sweep = job<ScheduledTick>("links.sweep");
const DUE = Date.parse("2026-01-01T03:00Z");
const YEAR_MS = 31_536_000_000;
const TICKS = "framework:jobs:ticks";

class Sweeper {
  readonly ticks: string[] = [];
  @Handles(sweep)
  sweep({ due }: ScheduledTick): void {
    this.ticks.push(due);
  }
}

class Instance implements AsyncDisposable {
  readonly sweeper = new Sweeper();
  private readonly newJobs = new NewJobs();

  private constructor(
    readonly store: BullJobs,
    readonly jobs: Jobs,
  ) {}

  static async start(url: string): Promise<Instance> {
    const store = new BullJobs({ url });
    const jobs = new Jobs({ store, queues: ["default"] });
    const instance = new Instance(store, jobs);
    const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
    jobs.prepare({ ...host, instances: () => [instance.sweeper] });
    await jobs.start();
    return instance;
  }

  async tick(due: number): Promise<boolean> {
    const made = await this.newJobs.create(sweep, { due: new Date(due).toISOString() }, {});
    return this.store.tick(sweep.name, due, made);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.endWork(1000);
    await this.jobs.stop();
  }
}

describe("a tick in BullMQ without a database", function () {
  this.timeout(60_000);
  this.slow(10_000);
  let server: RedisServer;
  let redis: Redis;
  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    redis = new Redis(server.url);
  });
  beforeEach(() => server.clear());
  after(async () => {
    redis?.disconnect();
    await server?.kill();
  });

  it("is not recorded if its job is refused, and is retried", async () => {
    await using instance = await Instance.start(server.url);
    await redis.set("framework:default:meta", "not a hash");
    expect(String(await rejectionOf(instance.tick(DUE)))).to.include("WRONGTYPE");
    await redis.del("framework:default:meta");

    expect(await instance.tick(DUE)).to.equal(true);
    expect(await instance.jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
  });

  it("is one job, also if two processes add it at once, or if a process died before it recorded the tick", async () => {
    await using one = await Instance.start(server.url);
    await using other = await Instance.start(server.url);
    const first = await Promise.all([one.tick(DUE), other.tick(DUE)]);
    await redis.del(TICKS);
    await one.jobs.beginWork("worker");
    await until(() => one.sweeper.ticks.length > 0);
    await until(async () => (await one.jobs.counts()).running === 0);
    await redis.del(TICKS);
    const again = await other.tick(DUE);
    await other.tick(DUE + 60_000);
    await until(() => one.sweeper.ticks.length > 1);

    expect(first.filter(Boolean)).to.have.lengthOf(1);
    expect(again).to.equal(true);
    expect(one.sweeper.ticks).to.deep.equal([DUE, DUE + 60_000].map((due) => new Date(due).toISOString()));
  });

  it("is dispatched again after the clock of Redis was a year ahead and was set back", async () => {
    await using instance = await Instance.start(server.url);
    await redis.hset(TICKS, sweep.name, Date.now() + YEAR_MS);
    const last = await instance.store.lastTick(sweep.name);
    const isFirst = await instance.tick(DUE);

    expect(last).to.equal(undefined);
    expect(isFirst).to.equal(true);
    expect(await instance.store.lastTick(sweep.name)).to.equal(DUE);
    expect(await instance.tick(DUE)).to.equal(false);
  });
});
