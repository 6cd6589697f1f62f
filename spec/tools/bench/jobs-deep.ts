/**
 * The cost of a claim of ten jobs in deep queues, on PostgreSQL, MariaDB and SQLite: beside ten jobs, beside a hundred times `--jobs` that
 * are due in another queue, beside as many that come first and are not due, and where nothing is due in the queue. Times are medians.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs } from "@stagecraft/framework/jobs";
import { JobSql } from "../../../lib/jobs/stores/database/job-sql.js";
import { type Backlog, fillQueue } from "../../jobs/stores/database/deep-queue.js";
import { type JobsDatabase, jobsDatabase, makeTables } from "../../jobs/jobs-database.js";
import { locate } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import type { BenchOptions } from "./options.js";
import { markdownTable, median } from "./table.js";

const CLAIMS = 50;
const DEPTH = 100;
/** A claim and its completion, so that the queue stays as deep as it is. */
const CLAIMED = 10;

const BACKLOGS: readonly (readonly [what: string, backlog: Partial<Backlog>, queues: readonly string[] | undefined])[] =
  [
    ["due in another queue", { queue: "bulk", priority: 50, due: 1 }, ["mail"]],
    ["due in another queue, claims of all queues", { queue: "bulk", priority: 50, due: 1 }, undefined],
    ["first by priority, due in an hour", { queue: "mail", priority: 0, due: Date.now() + 3_600_000 }, ["mail"]],
    ["first by priority, due in an hour, all queues", { queue: "mail", due: Date.now() + 3_600_000 }, undefined],
  ];

export const JOBS_DEEP = {
  name: "jobs:deep",
  what: "milliseconds for a claim of ten jobs in deep queues",
  run: async ({ jobs }: BenchOptions): Promise<string> => {
    const rows: string[][] = [];
    for (const [name, open] of Object.entries(ENGINES)) {
      await using place = await open();
      if (place === undefined) continue;
      for (const [what, backlog, queues] of BACKLOGS) {
        const few = await claimMs(place.driver(), { ...backlog, jobs: 10 }, queues);
        const many = await claimMs(place.driver(), { ...backlog, jobs: jobs * DEPTH }, queues);
        rows.push([name, what, ...few, ...many].map((each) => (typeof each === "number" ? each.toFixed(2) : each)));
      }
    }
    const columns = ["claim beside 10", "nothing due", `beside ${jobs * DEPTH}`, "nothing due"];
    return markdownTable(["engine", "the other jobs", ...columns], rows);
  },
};

/** The median of a claim, and of one that finds nothing due. */
async function claimMs(
  driver: DatabaseDriver,
  backlog: Partial<Backlog>,
  queues: readonly string[] | undefined,
): Promise<readonly number[]> {
  await using db = await jobsDatabase(driver, new SystemClock());
  await makeTables(db);
  const sql = new JobSql(db);
  await fillQueue(sql, { prefix: "b", queue: "bulk", priority: 0, due: 1, jobs: 10, ...backlog });
  await fillQueue(sql, { prefix: "m", queue: "mail", priority: 10, due: 1, jobs: CLAIMED * (CLAIMS + 10) });
  const claimed = await measured(db, queues);
  await sql.run("DELETE FROM framework_jobs WHERE priority = 10");
  return [claimed, await measured(db, ["mail"])];
}

async function measured(db: JobsDatabase, queues: readonly string[] | undefined): Promise<number> {
  const store = new DatabaseJobs(db);
  const times: number[] = [];
  for (let claim = 0; claim < CLAIMS + 10; claim += 1) {
    const began = performance.now();
    const jobs = await store.claim({ worker: "bench", queues, limit: CLAIMED, leaseMs: 60_000 });
    times.push(performance.now() - began);
    await store.complete(jobs);
  }
  return median(times.slice(10));
}

interface Place extends AsyncDisposable {
  driver(): DatabaseDriver;
}

const ENGINES: Readonly<Record<string, () => Promise<Place | undefined>>> = {
  PostgreSQL: async () => {
    if (locate("postgres") === undefined) return undefined;
    const server = await PostgresServer.start(["shared_buffers=256MB"]);
    return placeOf(server, () => postgres({ url: server.url }));
  },
  MariaDB: async () => {
    if (locate("mariadbd") === undefined) return undefined;
    const server = await MariadbServer.start(["--innodb-buffer-pool-size=256M"]);
    return placeOf(server, () => mysql({ url: server.url }));
  },
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "jobs-deep-"));
    let file = 0;
    const end = { [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) };
    return placeOf(end, () => sqlite(join(folder, `${(file += 1)}.db`)));
  },
};

function placeOf(resource: AsyncDisposable, driver: () => DatabaseDriver): Place {
  return { driver, [Symbol.asyncDispose]: () => resource[Symbol.asyncDispose]() };
}
