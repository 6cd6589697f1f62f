/** A process of version 0.1 on the tables of this version: its statements run, and its jobs are not taken for unhandled. */
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { JobSql } from "../../../lib/jobs/stores/database/job-sql.js";
import { temporaryFolder } from "../../db/shop-database.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";
import { preparedJobs } from "../prepared-jobs.js";

const DAY_MS = 86_400_000;
const CHANGES = "worker = 'old', token = token + 1, attempt = attempt + 1, wait_key = NULL";

/** The claim of version 0.1, in the way of each engine. */
const CLAIMS = {
  sqlite: (now: number) => [
    `UPDATE framework_jobs SET ${CHANGES}, leased_until = ${now + 300_000} WHERE id IN (SELECT id FROM framework_jobs  WHERE worker IS NULL  AND due <= ${now}  ORDER BY priority, due, id LIMIT 10)`,
  ],
  postgres: (now: number) => [
    `WITH picked AS MATERIALIZED (SELECT id FROM framework_jobs WHERE worker IS NULL AND priority BETWEEN 0 AND 100 AND due <= (SELECT ${now}) ORDER BY priority, due, id LIMIT 10 FOR UPDATE SKIP LOCKED) UPDATE framework_jobs job SET worker = 'old', token = job.token + 1, attempt = job.attempt + 1, wait_key = NULL, leased_until = ${now + 300_000} FROM picked WHERE job.id = picked.id`,
  ],
  mysql: (now: number) => [
    `SELECT id FROM framework_jobs FORCE INDEX (framework_jobs_turn) WHERE worker IS NULL AND due <= ${now} ORDER BY priority, due, id LIMIT 10 FOR UPDATE SKIP LOCKED`,
    `UPDATE framework_jobs SET ${CHANGES}, leased_until = ${now + 300_000} WHERE worker IS NULL`,
  ],
} as const;

async function deployed(driver: DatabaseDriver) {
  const clock = new FakeClock();
  await using db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const store = new DatabaseJobs(db);
  const { jobs } = preparedJobs([], { store }, clock);
  const sql = new JobSql(db);
  await jobs.dispatch(job("claimed"));
  await sql.run(`INSERT INTO framework_job_workers (id, beat_at) VALUES ('old', ${clock.now()})`);
  for (const statement of CLAIMS[sql.family](clock.now())) await sql.run(statement);
  const running = await store.counts();
  await sql.run("DELETE FROM framework_jobs WHERE worker IS NOT NULL AND token = 1");

  await jobs.dispatch(job("unhandled"));
  const request = { worker: "new", queues: undefined, limit: 1, leaseMs: 60_000 };
  await store.waitUnhandled(await store.claim(request), 30_000);
  clock.advance(2 * DAY_MS);
  await sql.run(`UPDATE framework_job_workers SET beat_at = ${clock.now()} WHERE id = 'old'`);
  return { running, reapedBeside: await store.reap(30_000), left: await store.counts() };
}

const EXPECTED = {
  running: { waiting: 0, running: 1, dead: 0 },
  reapedBeside: [],
  left: { waiting: 1, running: 0, dead: 0 },
};

describe("a process of version 0.1", function () {
  this.slow(5000);

  it("claims jobs from the tables of SQLite, and may handle every name", async () => {
    await using folder = await temporaryFolder();
    expect(await deployed(sqlite(folder.file("jobs.db")))).to.deep.equal(EXPECTED);
  });

  it("claims jobs from the tables of PostgreSQL", async function () {
    needs("postgres").call(this);
    await using server = await PostgresServer.borrow();
    expect(await deployed(postgres({ url: server.url }))).to.deep.equal(EXPECTED);
  });

  it("claims jobs from the tables of MariaDB", async function () {
    needs("mariadbd").call(this);
    await using server = await MariadbServer.borrow();
    expect(await deployed(mysql({ url: server.url }))).to.deep.equal(EXPECTED);
  });
});
