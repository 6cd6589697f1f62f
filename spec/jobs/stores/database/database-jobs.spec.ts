/** Jobs in SQLite: the contract, transactions of the application, and the death of a worker. */
import { Application, FrameworkError, provide } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { obeysQueue } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { DriverError } from "../../../../lib/db/driver-error.js";
import { temporaryFolder } from "../../../db/shop-database.js";
import { TracingRecorder } from "../../../support/tracing-recorder.js";
import { startupErrorOf } from "../../../support/startup-error-of.js";
import { until } from "../../../support/until.js";
import { jobsDatabase, JobsDatabase, makeTables, passSlowly, startedTables } from "../../jobs-database.js";

const counted = job<number>("counted");

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

class OtherDatabase extends JobsDatabase {}

describe("DatabaseJobs on SQLite", function () {
  this.timeout(60_000);

  it("obeys the contract of a queue", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(db);
    const store = new DatabaseJobs(db);
    store.prepare({ clock });
    await obeysQueue((options) => new Jobs({ ...options, store }), {
      clock,
      store,
      pass: (ms) => passSlowly(clock, ms),
    });
  });

  it("is the default store of an application with one database, and a job exists only if its transaction commits", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await startedTables(sqlite(file));
    const database = provide(JobsDatabase).useFactory(() => new JobsDatabase(sqlite(file)));
    await using app = await testApp(Application.create().provide(Jobs, Counter, database));
    const [jobs, db, counter] = [app.resolve(Jobs), app.resolve(JobsDatabase), app.resolve(Counter)];

    const failed = db.transaction(async () => {
      await jobs.dispatch(counted, 1);
      expect((await jobs.counts()).waiting).to.equal(1);
      throw new Error("rolled back");
    });
    expect(await failed.catch(String)).to.equal("Error: rolled back");
    await db.transaction(async () => {
      await jobs.dispatch(counted, 2);
      await db
        .transaction(async () => {
          await jobs.dispatch(counted, 3);
          throw new Error("the inner one rolled back");
        })
        .catch(() => {});
    });
    await until(() => counter.seen.length > 0);
    await until(async () => (await jobs.counts()).running === 0);

    expect(counter.seen).to.deep.equal([2]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("adds a job of a transaction of another database only if that transaction commits", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await using other = new OtherDatabase(sqlite(folder.file("other.db")));
    await other.start();
    await makeTables(db);
    const jobs = new Jobs({ store: new DatabaseJobs(db) });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
    const fails = async (): Promise<never> => {
      await jobs.dispatch(counted, 1);
      throw new Error("rolled back");
    };
    const waiting = async (): Promise<number> => (await jobs.counts()).waiting;

    await other.transaction(fails).catch(() => {});
    await db.transaction(() => other.transaction(fails).catch(() => {}));
    expect(await waiting()).to.equal(0);
    await db.transaction(() => other.transaction(() => jobs.dispatch(counted, 2)));
    expect(await waiting()).to.equal(1);
    await other.transaction(() => db.transaction(() => jobs.dispatch(counted, 3)));
    expect(await waiting()).to.equal(2);
  });

  it("runs the job of a commit whose response is lost only if the commit succeeded, and the caller learns that this is unknown", async () => {
    await using folder = await temporaryFolder();
    const driver = sqlite(folder.file("jobs.db"));
    const clock = new FakeClock();
    await using db = await jobsDatabase(driver, clock);
    await makeTables(db);
    const counter = new Counter();
    const jobs = new Jobs({ store: new DatabaseJobs(db) });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [counter] });
    await jobs.beginWork("worker");
    await passSlowly(clock, 100);
    const codes: unknown[] = [];
    for (const [number, isMade] of [false, true].entries()) {
      using _lost = loseCommits(driver, isMade);
      const transaction = db.transaction(() => jobs.dispatch(counted, number));
      codes.push(await transaction.catch((error: unknown) => error instanceof FrameworkError && error.code));
    }
    expect(counter.seen).to.deep.equal([]);
    await passSlowly(clock, 2000);
    await jobs.endWork(1000);

    expect(codes).to.deep.equal(["E_DB_UNKNOWN_OUTCOME", "E_DB_UNKNOWN_OUTCOME"]);
    expect(counter.seen).to.deep.equal([1]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("polls for jobs without a span and without a DEBUG event, and warns of a slow poll", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    const recorder = new TracingRecorder();
    const metrics = new Metrics();
    await recorder.run(async () => {
      const db = new JobsDatabase(sqlite(folder.file("jobs.db")), { slowQueryMs: 0 });
      db.prepare({ name: "database", clock, metrics });
      await db.start();
      await makeTables(db);
      const jobs = new Jobs({ store: new DatabaseJobs(db) });
      jobs.prepare({ name: "jobs", clock, metrics, instances: () => [new Counter()] });
      recorder.spans.length = 0;
      recorder.events.length = 0;
      await jobs.beginWork("worker");
      await passSlowly(clock, 25_000);
      const looks = recorder.events.filter(({ fields }) => String(fields["statement"]).startsWith("UPDATE"));
      expect(looks).to.have.lengthOf.above(15);
      expect(recorder.events.filter(({ level }) => level !== "WARN")).to.deep.equal([]);
      expect(recorder.spans).to.deep.equal([]);

      await jobs.dispatch(counted, 1);
      await passSlowly(clock, 2000);
      await jobs.endWork(1000);
      await db.stop();
    });

    const names = recorder.spans.map(({ name }) => name);
    expect(names).to.include.members(["framework.job.dispatch", "framework.db.query", "framework.job.handle"]);
    expect(metrics.render()).to.match(/operation_duration_seconds_count\{[^}]*operation="raw"[^}]*\} [2-9]\d/);
  });

  it("is not chosen by default in an application with two databases", () => {
    const databases = [JobsDatabase, OtherDatabase].map((each) =>
      provide(each).useFactory(() => new each(sqlite(":memory:"))),
    );
    const [diagnostic] = startupErrorOf(() =>
      Application.create()
        .provide(Jobs, ...databases)
        .build(),
    ).diagnostics;

    expect(diagnostic).to.include({ code: "E_JOBS_STORE", what: "Jobs could wait in 2 databases" });
  });
});

/** Until it is disposed of, each commit of the driver fails as on a lost connection; the engine has made it, or rolled it back. */
function loseCommits(driver: DatabaseDriver, isMade: boolean): Disposable {
  const connect = driver.connect.bind(driver);
  const failure = driver.failure.bind(driver);
  driver.failure = (error) => (error instanceof DriverError ? error.failure : failure(error));
  driver.connect = async (options) => {
    const connection = await connect(options);
    const commit = connection.commit.bind(connection);
    connection.commit = async () => {
      connection.commit = commit;
      await (isMade ? commit() : connection.rollback());
      throw new DriverError({ kind: "connection", code: "LOST", text: "the connection was lost" });
    };
    return connection;
  };
  return { [Symbol.dispose]: () => (driver.connect = connect) };
}
