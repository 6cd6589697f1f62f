/** Claims in deep queues: by the plans of the engines they read as many rows as they claim, and not the jobs of others. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, type JobDatabase, type RawStatement } from "@stagecraft/framework/jobs";
import { expect } from "chai";
import { JobSql } from "../../../../lib/jobs/stores/database/job-sql.js";
import { temporaryFolder } from "../../../db/shop-database.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { fillQueue } from "./deep-queue.js";
import { jobsDatabase, type JobsDatabase, makeTables } from "../../jobs-database.js";

const DEEP = 20_000;
const CLAIMED = 10;
/** Some rows for each range of the index, whatever their number. */
const MAX_READ = 100;

/** Keeps the statements that pass through it. */
function recorded(db: JobsDatabase, statements: RawStatement[]): JobDatabase {
  const query = db.query.withoutPlugins();
  const executeQuery = (statement: RawStatement) => {
    statements.push(statement);
    return query.executeQuery(statement);
  };
  return {
    driver: db.driver,
    query: { withoutPlugins: () => ({ executeQuery }) },
    transaction: (work, options) => db.transaction(work, options),
    current: (work) => db.current(work),
  };
}

/** Jobs that are due in another queue, and jobs of the same queue that come first and are not due, around a few that are due. */
async function deepQueues(db: JobsDatabase): Promise<void> {
  const sql = new JobSql(db);
  const later = Date.now() + 3_600_000;
  for (const [prefix, priority, due, jobs] of [
    ["a", 0, later, DEEP],
    ["b", 20, later, DEEP],
    ["c", 10, 1, CLAIMED],
  ] as const)
    await fillQueue(sql, { prefix, queue: "mail", priority, due, jobs });
  for (const [prefix, queue] of ["bulk", "paused", "zoo"].entries())
    await fillQueue(sql, { prefix: String(prefix), queue, priority: 50, due: 1, jobs: DEEP });
  await sql.run("INSERT INTO framework_job_queues (queue, paused_at, paused_by) VALUES ('paused', 1, 'ada')");
}

const WANTED = [["mail"], ["mail", "news"], undefined] as const;

/** The ids of each claim, and the plans of its statements. */
async function claimed(driver: DatabaseDriver, explain: string): Promise<readonly [string, readonly object[]][]> {
  await using db = await jobsDatabase(driver, new SystemClock());
  await makeTables(db);
  await deepQueues(db);
  const all: [string, readonly object[]][] = [];
  for (const queues of WANTED) {
    // An explained claim is made.
    await new JobSql(db).run("UPDATE framework_jobs SET worker = NULL WHERE worker IS NOT NULL");
    const statements: RawStatement[] = [];
    const store = new DatabaseJobs(recorded(db, statements));
    const request = { worker: "w", queues, limit: CLAIMED, leaseMs: 60_000 };
    // The first claim of a process may look for ranges that it does not know.
    await store.release(await store.claim(request));
    statements.length = 0;
    const jobs = await store.claim(request);
    await store.release(jobs);
    const plans: object[] = [];
    for (const { sql, parameters } of statements.filter((each) => /^WITH|^UPDATE.*WITH|SELECT/.test(each.sql)))
      plans.push(...(await planOf(db, `${explain} ${sql}`, parameters)));
    all.push([[...new Set(jobs.map(({ id }) => id.slice(0, 1)))].join(), plans]);
  }
  return all;
}

async function planOf(db: JobsDatabase, sql: string, parameters: readonly unknown[]): Promise<readonly object[]> {
  const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] } as const;
  const statement: RawStatement = { query, queryId: { queryId: "plan" }, sql, parameters };
  const { rows } = await db.query.withoutPlugins().executeQuery(statement);
  return rows as readonly object[];
}

describe("a claim in deep queues", function () {
  this.timeout(120_000);
  this.slow(20_000);

  it("reads only a few rows on PostgreSQL", async function () {
    needs("postgres").call(this);
    await using server = await PostgresServer.borrow();
    const claims = await claimed(postgres({ url: server.url }), "EXPLAIN (ANALYZE, FORMAT JSON)");

    expect(claims.map(([ids]) => ids)).to.deep.equal(["c", "c", "c"]);
    for (const [, plans] of claims) expect(Math.max(...rowsRead(plans))).to.be.within(1, MAX_READ);
  });

  it("reads only a few rows on MariaDB", async function () {
    needs("mariadbd").call(this);
    await using server = await MariadbServer.borrow();
    const claims = await claimed(mysql({ url: server.url, pool: { max: 1 } }), "ANALYZE");

    expect(claims.map(([ids]) => ids)).to.deep.equal(["c", "c", "c"]);
    for (const [, plans] of claims) expect(Math.max(...rowsRead(plans))).to.be.within(1, MAX_READ);
  });

  it("searches the ranges of the index on SQLite", async () => {
    await using folder = await temporaryFolder();
    const claims = await claimed(sqlite(folder.file("jobs.db")), "EXPLAIN QUERY PLAN");

    expect(claims.map(([ids]) => ids)).to.deep.equal(["c", "c", "c"]);
    const details = claims.flatMap(([, plans]) => plans).map((plan) => String(Reflect.get(plan, "detail")));
    const ranges = new Set(details.flatMap((detail) => /framework_jobs_turn \((.*)\)/.exec(detail)?.[1] ?? []));
    expect([...ranges]).to.have.members([
      "queue=?",
      "queue=? AND priority>?",
      "queue>?",
      "queue=? AND priority=? AND due<?",
    ]);
    // The first row of all, by the order of the index.
    const scans = details.filter((detail) => /^SCAN (job|next|framework_jobs)\b/.test(detail));
    expect(scans.filter((detail) => !detail.endsWith("INDEX framework_jobs_turn"))).to.deep.equal([]);
  });
});

/** The numbers of rows that each step of a plan has read, in the words of either server. */
function rowsRead(plan: unknown): readonly number[] {
  if (typeof plan === "string" && plan.startsWith("[")) return rowsRead(JSON.parse(plan));
  if (typeof plan !== "object" || plan === null) return [];
  const all = Object.entries(plan);
  const of = (name: string): number => Number(Reflect.get(plan, name) ?? 0);
  const read = (of("Actual Rows") + of("Rows Removed by Filter")) * of("Actual Loops") || of("r_rows");
  return [read, ...all.flatMap(([, value]) => rowsRead(value))];
}
