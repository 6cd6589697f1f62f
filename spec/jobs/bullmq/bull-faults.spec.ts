/** Jobs in BullMQ when Redis is halted or killed, with two relays, and with many dispatches of one key. */
import { EventEmitter, once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Redis } from "ioredis";
import { temporaryFolder } from "../../db/shop-database.js";
import type { LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { JobSql } from "../../../lib/jobs/stores/database/job-sql.js";
import { type JobsDatabase, jobsDatabase, makeTables } from "../jobs-database.js";
import { Child } from "../../support/child.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { RedisCluster } from "../../support/redis-cluster.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { SlowFront } from "../../support/slow-front.js";
import { until } from "../../support/until.js";

const counted = job<number>("counted");
const COUNT = 200;
const numbers = Array.from({ length: COUNT }, (_, number) => number);

class Counter {
  readonly seen: number[] = [];
  /** A handler waits for it. */
  gate: Promise<unknown> = Promise.resolve();

  @Handles(counted)
  async count(number: number): Promise<void> {
    this.seen.push(number);
    await this.gate;
  }
}

class Instance implements AsyncDisposable {
  readonly counter = new Counter();
  readonly jobs: Jobs;

  private constructor(url: string, database: JobsDatabase | undefined) {
    this.jobs = new Jobs({ store: new BullJobs({ url, ...(database !== undefined && { database }) }) });
    const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
    this.jobs.prepare({ ...host, instances: () => [this.counter] });
  }

  static async start(url: string, database?: JobsDatabase): Promise<Instance> {
    const instance = new Instance(url, database);
    await instance.jobs.start();
    await instance.jobs.beginWork("worker");
    return instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.endWork(1000);
    await this.jobs.stop();
  }
}

async function isIdle(jobs: Jobs): Promise<boolean> {
  const { waiting, running } = await jobs.counts();
  return waiting + running === 0;
}

describe("BullJobs", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(function () {
    needRedis(this);
  });

  it("does not start on a server of a cluster, and starts on a server that does not respond at first", async () => {
    await using cluster = await RedisCluster.start();
    await using server = await RedisServer.start();
    using front = await SlowFront.start(server.port, 2);

    for (const url of cluster.urls)
      expect(await rejectionOf(new BullJobs({ url }).start())).to.include({ code: "E_REDIS_CLUSTER" });
    const late = new BullJobs({ url: `redis://127.0.0.1:${front.port}`, client: { socketTimeout: 500 } });
    await late.start();
    await late.stop();

    expect(front.failed).to.equal(2);
  });

  it("runs each job once if the relays of two instances move the rows of one table", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using one = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await using other = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(one);
    await using first = await Instance.start(server.url, one);
    await using second = await Instance.start(server.url, other);
    await Promise.all(numbers.map((number) => (number % 2 === 0 ? first : second).jobs.dispatch(counted, number)));
    const seen = (): readonly number[] => [first, second].flatMap(({ counter }) => counter.seen);
    await until(() => seen().length >= COUNT);
    await until(() => isIdle(first.jobs));

    expect(seen().toSorted((left, right) => left - right)).to.deep.equal(numbers);
  });

  it("accepts dispatches with a database while Redis is halted or killed, and runs them when it is back", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(db);
    await using instance = await Instance.start(server.url, db);
    const { jobs, counter } = instance;
    server.halt();
    await jobs.dispatchAll(counted, numbers.slice(0, 100));
    // The relay has taken them, and waits for Redis.
    await until(async () => (await runningIn(db)) === 100);
    expect(counter.seen).to.deep.equal([]);
    server.resume();
    await until(() => counter.seen.length === 100);
    await until(async () => (await runningIn(db)) === 0);
    await server.kill();
    await jobs.dispatchAll(counted, numbers.slice(100));
    await until(async () => (await runningIn(db)) === 100);
    await server.restart();
    await until(() => counter.seen.length >= COUNT);
    await until(() => isIdle(jobs));

    expect(counter.seen.toSorted((left, right) => left - right)).to.deep.equal(numbers);
  });

  it("writes a row for a dispatch in a transaction, with a key or with a delay, and for no other dispatch", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(db);
    const refuse = "CREATE TRIGGER refuse BEFORE INSERT ON framework_jobs BEGIN SELECT RAISE(ABORT, 'a row'); END";
    await new JobSql(db).run(refuse);
    await using instance = await Instance.start(server.url, db);
    const { jobs, counter } = instance;
    const withRow = Promise.allSettled([
      db.transaction(() => jobs.dispatch(counted, 1)),
      jobs.dispatch(counted, 2, { key: "k" }),
      jobs.dispatch(counted, 3, { delay: 1000 }),
    ]);
    await jobs.dispatchAll(counted, [4, 5]);
    await until(() => counter.seen.length === 2);

    const outcomes = await withRow;

    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "rejected"]);
    expect(counter.seen).to.deep.equal([4, 5]);
  });

  it("runs a job of one attempt whose relay was killed before it moved the job", async () => {
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(db);
    await using child = await Child.start("../jobs/bullmq/relay-process.js", {
      REDIS: server.url,
      DATABASE: folder.file("jobs.db"),
    });
    await until(() => child.output.includes("started"));
    server.halt();
    child.kill("SIGUSR2");
    await until(async () => (await runningIn(db)) === 1);
    child.kill("SIGKILL");
    await child.exitCode();
    server.resume();
    // Half a minute of silence.
    await new JobSql(db).run("DELETE FROM framework_job_workers");
    await using instance = await Instance.start(server.url, db);
    await until(() => instance.counter.seen.length > 0);
    await until(() => isIdle(instance.jobs));

    expect(instance.counter.seen).to.deep.equal([7]);
    expect(await instance.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("stops, and refuses dispatches without a database, some seconds after Redis was killed", async function () {
    this.slow(20_000);
    await using server = await RedisServer.start();
    await using folder = await temporaryFolder();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
    await makeTables(db);
    const related = await Instance.start(server.url, db);
    const direct = await Instance.start(server.url);
    await Promise.all([related, direct].map(({ jobs }) => jobs.dispatch(counted, 1)));
    await until(() => [related, direct].flatMap(({ counter }) => counter.seen).length === 2);
    await server.kill();
    await related.jobs.dispatch(counted, 2);
    await until(async () => (await runningIn(db)) === 1);
    const refused = await rejectionOf(direct.jobs.dispatch(counted, 2));
    for (const instance of [related, direct]) await instance[Symbol.asyncDispose]();

    expect(refused).to.include({ code: "E_JOBS_REDIS", status: 503 });
    expect(await runningIn(db)).to.equal(0);
  });

  it("lets any number of dispatches wait for Redis without a warning of Node", async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error): void => void warnings.push(warning);
    process.on("warning", keep);
    try {
      await using server = await RedisServer.start();
      await using instance = await Instance.start(server.url);
      await instance.jobs.dispatch(counted, 0);
      await server.kill();
      await until(() =>
        instance.jobs.counts().then(
          () => false,
          () => true,
        ),
      );
      const outcomes = await Promise.allSettled(
        Array.from({ length: 15 }, (_, number) => instance.jobs.dispatch(counted, number)),
      );
      expect(outcomes.every(({ status }) => status === "rejected")).to.equal(true);
      // Node emits a warning in a later turn.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("warning", keep);
    }

    expect(warnings.map(({ name }) => name)).to.not.include("MaxListenersExceededWarning");
  });

  it("refuses dispatches in time while Redis is halted", async () => {
    await using server = await RedisServer.start();
    await using instance = await Instance.start(server.url);
    await instance.jobs.dispatch(counted, 1);
    server.halt();
    const refused = await rejectionOf(instance.jobs.dispatch(counted, 2));
    server.resume();

    expect(refused).to.include({ code: "E_JOBS_REDIS", status: 503 });
  });

  it("runs new jobs after Redis has lost its data", async () => {
    await using server = await RedisServer.start();
    const clock = new FakeClock();
    const jobs = new Jobs({ store: new BullJobs({ url: server.url }) });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
    await jobs.start();
    await jobs.dispatch(counted, 1);
    await server.clear();
    clock.advance(2000);
    await jobs.dispatch(counted, 2);
    await using worker = await Instance.start(server.url);
    await until(() => worker.counter.seen.length > 0);
    await until(() => isIdle(worker.jobs));
    await jobs.stop();

    expect(worker.counter.seen).to.deep.equal([2]);
  });

  it("creates one job from many dispatches of one key while a job with the key runs", async () => {
    await using server = await RedisServer.start();
    await using instance = await Instance.start(server.url);
    const { jobs, counter } = instance;
    const gate = new EventEmitter();
    counter.gate = once(gate, "open");
    await jobs.dispatch(counted, -1, { key: "k" });
    await until(() => counter.seen.length === 1);
    // Ten places, all of which would take a job.
    const others = await Promise.all(
      numbers.slice(0, 9).map((number) => jobs.dispatch(counted, number, { key: "k", delay: 60_000 })),
    );
    const { waiting, running } = await jobs.counts();
    gate.emit("open");
    await until(async () => (await jobs.counts()).running === 0);

    expect({ waiting, running }).to.deep.equal({ waiting: 1, running: 1 });
    expect(new Set(others.map(({ id }) => id))).to.have.lengthOf(1);
  });

  it("gives the job of a worker that lost its lock to another worker, and refuses the completion of the first", async () => {
    await using server = await RedisServer.start();
    const redis = new Redis(server.url);
    const gates = [new EventEmitter(), new EventEmitter()] as const;
    const seen: (readonly number[])[] = [];
    const counts: unknown[] = [];
    const refused: string[] = [];
    const layer = {
      onEvent: ({ level, message, fields }: LogEvent) => {
        if (level === "WARN") refused.push(`${message} queue=${String(fields?.["queue"])}`);
      },
    };
    await tracing.withSubscriber(tracing.registry().with(layer), async () => {
      await using first = await Instance.start(server.url);
      first.counter.gate = once(gates[0], "open");
      const { id } = await first.jobs.dispatch(counted, 1);
      await until(() => first.counter.seen.length === 1);
      // Redis after a worker was stopped for longer than its lock: BullMQ has marked the job as stalled once.
      await redis.del(`framework:default:${id}:lock`, "framework:default:stalled-check");
      await redis.sadd("framework:default:stalled", id);
      await using second = await Instance.start(server.url);
      second.counter.gate = once(gates[1], "open");
      await until(() => second.counter.seen.length === 1);
      gates[0].emit("open");
      await until(() => refused.length > 0);
      counts.push(await second.jobs.counts());
      gates[1].emit("open");
      await until(() => isIdle(second.jobs));
      counts.push(await second.jobs.counts());
      seen.push(first.counter.seen, second.counter.seen);
    });
    redis.disconnect();

    expect(counts).to.deep.equal([
      { waiting: 0, running: 1, dead: 0 },
      { waiting: 0, running: 0, dead: 0 },
    ]);
    expect(seen).to.deep.equal([[1], [1]]);
    expect(refused).to.have.lengthOf(1);
    expect(refused[0]).to.include("job lease lost").and.to.include("queue=default");
  });
});

async function runningIn(db: JobsDatabase): Promise<number> {
  const { rows } = await new JobSql(db).run("SELECT COUNT(*) AS jobs FROM framework_jobs WHERE worker IS NOT NULL");
  return Number(rows[0]?.["jobs"]);
}
