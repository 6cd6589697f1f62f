/** The most jobs of one key at once, in several processes on one database. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job, Jobs, MemoryJobs, schedule } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { JobSql } from "../../../../lib/jobs/stores/database/job-sql.js";
import { createHandler } from "../../../../lib/testing/contracts/queue-trial.js";
import { temporaryFolder } from "../../../db/shop-database.js";
import { errorOf } from "../../../support/error-of.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { until } from "../../../support/until.js";
import { jobsDatabase, makeTables } from "../../jobs-database.js";
import { preparedJobs } from "../../prepared-jobs.js";

interface Report {
  readonly tenant: string;
  readonly number: number;
}

const LIMIT = 2;
const TENANTS = ["ada", "bob", "cy"];
const OF_EACH = 20;
const report = job("report", undefined, {
  concurrency: { key: ({ tenant }: Report) => tenant, limit: LIMIT },
  attempts: 1,
});
const plain = job<number>("plain");
const WORKERS = 3;

/** Runs the jobs of three tenants beside others in several workers, after a worker has died with some of them. */
async function boundedRuns(driver: () => DatabaseDriver) {
  const clock = new SystemClock();
  await using db = await jobsDatabase(driver(), clock);
  await makeTables(db);
  const sql = new JobSql(db);
  const running = new Map<string, number>();
  const seen = { most: 0, reports: new Set<string>(), runs: 0, plain: 0 };
  const handlers = [
    createHandler(report, async ({ tenant, number }) => {
      const now = (running.get(tenant) ?? 0) + 1;
      running.set(tenant, now);
      seen.most = Math.max(seen.most, now);
      // As long as some round trips.
      for (let each = 0; each < 3; each++) await sql.run("SELECT 1 AS one");
      running.set(tenant, (running.get(tenant) ?? 0) - 1);
      seen.runs += 1;
      seen.reports.add(`${tenant} ${number}`);
    }),
    createHandler(plain, () => void (seen.plain += 1)),
  ];
  const databases = await Promise.all(Array.from({ length: WORKERS }, () => jobsDatabase(driver(), clock)));
  const stores = databases.map((each) => new DatabaseJobs(each));
  const processes = stores.map((store) => {
    const jobs = new Jobs({ store, concurrency: 8, prefetch: 0 });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => handlers });
    return jobs;
  });
  const [first] = processes;
  const payloads = Array.from({ length: OF_EACH }, (_, number) => TENANTS.map((tenant) => ({ tenant, number }))).flat();
  await first?.dispatchAll(report, payloads);
  const [dispatcher] = stores;
  const dead = await dispatcher?.claim({ worker: "dead", queues: undefined, limit: 50, leaseMs: 300_000 });
  const beside = await dispatcher?.claim({ worker: "beside", queues: undefined, limit: 50, leaseMs: 300_000 });
  await dispatcher?.reap(30_000);
  await first?.dispatchAll(
    plain,
    Array.from({ length: 30 }, (_, number) => number),
  );
  for (const jobs of processes) await jobs.beginWork("worker");
  await until(() => seen.plain === 30 && seen.runs >= payloads.length);
  await until(async () => (await first?.counts())?.running === 0);
  for (const jobs of processes) await jobs.endWork(1000);
  for (const each of databases) await each.stop();
  return {
    claimed: [dead?.length, beside?.length],
    most: seen.most,
    reports: seen.reports.size,
    runs: seen.runs,
    counts: await new DatabaseJobs(db).counts(),
  };
}

/** The jobs that can be claimed after a worker has removed its job and died before it woke the next one: before a reap, and after it. */
async function forgotten(driver: DatabaseDriver) {
  const clock = new SystemClock();
  await using db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const store = new DatabaseJobs(db);
  const jobs = new Jobs({ store });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
  for (let number = 0; number < LIMIT * 3; number++) await jobs.dispatch(report, { tenant: "ada", number });
  const claim = () => store.claim({ worker: "w", queues: undefined, limit: 50, leaseMs: 300_000 });
  await store.heartbeat({ id: "w", names: ["report"], queues: undefined });
  const first = await claim();
  await new JobSql(db).run("DELETE FROM framework_jobs WHERE worker IS NOT NULL");
  const before = await claim();
  await store.reap(30_000);
  const after = await claim();
  await store.complete(after);
  return [first.length, before.length, after.length, (await claim()).length];
}

const FORGOTTEN = [LIMIT, 0, 1, LIMIT];

const ALL = TENANTS.length * OF_EACH;
const EXPECTED = {
  claimed: [LIMIT * TENANTS.length, 0],
  most: LIMIT,
  reports: ALL,
  runs: ALL,
  counts: { waiting: 0, running: 0, dead: 0 },
};

describe("the concurrency of a key", function () {
  this.timeout(120_000);
  this.slow(10_000);

  it("bounds the jobs of several workers on SQLite, and a dead worker leaves no slot occupied", async () => {
    await using folder = await temporaryFolder();
    expect(await boundedRuns(() => sqlite(folder.file("jobs.db")))).to.deep.equal(EXPECTED);
    expect(await forgotten(sqlite(folder.file("jobs.db")))).to.deep.equal(FORGOTTEN);
  });

  it("bounds the jobs of several workers on PostgreSQL, and a dead worker leaves no slot occupied", async function () {
    needs("postgres").call(this);
    await using server = await PostgresServer.borrow();
    expect(await boundedRuns(() => postgres({ url: server.url }))).to.deep.equal(EXPECTED);
    expect(await forgotten(postgres({ url: server.url }))).to.deep.equal(FORGOTTEN);
  });

  it("bounds the jobs of several workers on MariaDB, and a dead worker leaves no slot occupied", async function () {
    needs("mariadbd").call(this);
    await using server = await MariadbServer.borrow();
    expect(await boundedRuns(() => mysql({ url: server.url }))).to.deep.equal(EXPECTED);
    expect(await forgotten(mysql({ url: server.url }))).to.deep.equal(FORGOTTEN);
  });

  it("keeps two ticks of a schedule from running at once", async () => {
    const nightly = schedule("nightly", "* * * * *", {
      timeoutMs: 300_000,
      concurrency: { key: () => "one", limit: 1 },
    });
    const seen = { now: 0, most: 0, runs: 0 };
    const handler = createHandler(nightly, async () => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 90_000));
      seen.now -= 1;
      seen.runs += 1;
    });
    const { jobs, clock } = preparedJobs([handler]);
    await jobs.beginWork("worker");
    await clock.advanceAsync(600_000);
    const ended = jobs.endWork(0);
    await clock.advanceAsync(10_000);
    await ended;

    expect(seen.most).to.equal(1);
    expect(seen.runs).to.be.within(4, 7);
  });

  it("is refused if its key is no function or returns no text, or if its limit is outside of 1 to 100", async () => {
    const refused = [
      { key: "tenant", limit: 1 },
      { key: () => "k", limit: 0 },
      { key: () => "k", limit: 101 },
      { key: () => "k" },
    ];
    for (const concurrency of refused)
      expect(errorOf(() => job("refused", undefined, { concurrency: concurrency as never }))).to.have.property(
        "code",
        "E_JOB_OPTION",
      );

    const { jobs } = preparedJobs([], { store: new MemoryJobs() });
    for (const key of [() => "", () => "a\nb", () => 7 as unknown as string]) {
      const wrong = job("wrong", undefined, { concurrency: { key, limit: 1 } });
      const error = await jobs.dispatch(wrong).catch((reason: unknown) => reason);
      expect(error).to.have.property("code", "E_JOB_OPTION");
    }
  });
});
