/** Jobs in SQLite: the contract, transactions of the application, and the death of a worker. */
import { Application, provide } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { FakeClock, obeysQueue, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { temporaryFolder } from "../db/shop-database.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { until } from "../support/until.js";
import { jobsDatabase, JobsDatabase, makeTables, passSlowly, startedTables } from "./jobs-database.js";

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
  this.timeout(20_000);

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

  it("is the store of Jobs where the application has one database, and a job exists only if its transaction commits", async () => {
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

  it("is not chosen among two databases", () => {
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
