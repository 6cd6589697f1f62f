/** Many jobs with the largest payloads at once: no statement is larger than a server takes, and all jobs are added or none. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import type { NewJob } from "../../../../lib/jobs/job-store.js";
import { temporaryFolder } from "../../../db/shop-database.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { jobsDatabase, makeTables } from "../../jobs-database.js";

const large = job<string>("large");
/** 64 KiB of JSON with the quotes. */
const LARGEST = "x".repeat(65_534);
const COUNT = 500;

async function preparedOn(driver: DatabaseDriver) {
  const clock = new SystemClock();
  const db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const store = new DatabaseJobs(db);
  const jobs = new Jobs({ store });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
  return { jobs, store, [Symbol.asyncDispose]: () => db.stop() };
}

function jobWith(id: string): NewJob {
  return {
    id: id.padStart(36, "0"),
    name: "large",
    queue: "default",
    priority: 0,
    payload: JSON.stringify(LARGEST),
    delayMs: 0,
    maxAttempts: 1,
    key: undefined,
    unique: "waiting",
    requestId: undefined,
    traceparent: undefined,
    tracestate: undefined,
  };
}

describe("500 jobs of 64 KiB at once", function () {
  this.timeout(60_000);
  this.slow(20_000);

  describe("on MariaDB", () => {
    before(needs("mariadbd"));

    it("are added on a server that accepts at most 16 MiB in one statement", async () => {
      await using server = await MariadbServer.borrow();
      await using prepared = await preparedOn(mysql({ url: server.url }));
      const payloads = Array.from({ length: COUNT }, () => LARGEST);
      const results = await prepared.jobs.dispatchAll(large, payloads);

      expect(new Set(results.map(({ id }) => id))).to.have.lengthOf(COUNT);
      expect(await prepared.jobs.counts()).to.deep.equal({ waiting: COUNT, running: 0, dead: 0 });
    });
  });

  it("are all refused if the last job is refused", async () => {
    await using folder = await temporaryFolder();
    await using prepared = await preparedOn(sqlite(folder.file("jobs.db")));
    const jobs = Array.from({ length: COUNT }, (_, number) => jobWith(String(number)));
    const refused = await rejectionOf(prepared.store.add([...jobs, jobWith("0")]));

    expect(refused).to.include({ kind: "unique" });
    expect(await prepared.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });
});
