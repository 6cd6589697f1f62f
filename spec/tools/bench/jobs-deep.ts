/**
 * The cost of a claim of ten jobs in deep queues, on PostgreSQL, MariaDB and SQLite: beside ten jobs, and beside a hundred times `--jobs`
 * that wait behind them in the same queue, are due in another one, or come first and are not due; and where nothing is due. Times are medians.
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
import { markdownTable, median, whole } from "./table.js";

const CLAIMS = 50;
const DEPTH = 100;
/** A claim and its completion, so that the queue stays as deep as it is. */
const CLAIMED = 10;

interface OtherJobs {
  readonly what: string;
  readonly backlog: Partial<Backlog>;
  /** The queues of the claim. */
  readonly queues: readonly string[] | undefined;
  /** The queue that has nothing due; unless set, that of the claim. */
  readonly idle?: string;
}

const BEHIND: OtherJobs = {
  what: "behind, in the same queue",
  backlog: { queue: "mail", priority: 50 },
  queues: ["mail"],
  idle: "idle",
};

const DEEP: readonly OtherJobs[] = [
  { what: "due in another queue", backlog: { queue: "bulk", priority: 50 }, queues: ["mail"] },
  {
    what: "due in another queue, claims of all queues",
    backlog: { queue: "bulk", priority: 50 },
    queues: undefined,
  },
  {
    what: "first by priority, due in an hour",
    backlog: { queue: "mail", due: Date.now() + 3_600_000 },
    queues: ["mail"],
  },
  {
    what: "first by priority, due in an hour, all queues",
    backlog: { queue: "mail", due: Date.now() + 3_600_000 },
    queues: undefined,
  },
];

export const JOBS_DEEP = [
  {
    name: "jobs:claim",
    what: "milliseconds for a claim of ten jobs, with ten others waiting and with a million",
    run: (options: BenchOptions) => claims([BEHIND], options),
  },
  {
    name: "jobs:deep",
    what: "milliseconds for a claim of ten jobs in deep queues",
    run: (options: BenchOptions) => claims(DEEP, options),
  },
] as const;

const COLUMNS = [
  "many",
  "ms beside 10",
  "ms beside many",
  "times as long",
  "nothing due, ms beside 10",
  "nothing due, ms beside many",
];

async function claims(others: readonly OtherJobs[], { jobs }: BenchOptions): Promise<string> {
  const rows: string[][] = [];
  for (const [name, open] of Object.entries(ENGINES)) {
    await using place = await open();
    if (place === undefined) continue;
    for (const { what, ...asked } of others) {
      const few = await claimMs(place.driver(), asked, 10);
      const many = await claimMs(place.driver(), asked, jobs * DEPTH);
      const times = [few.claim, many.claim, many.claim / few.claim, few.nothingDue, many.nothingDue];
      rows.push([`${name}, ${what}`, whole(jobs * DEPTH), ...times.map((each) => each.toFixed(2))]);
    }
  }
  return markdownTable(["the other jobs", ...COLUMNS], rows);
}

interface ClaimTimes {
  readonly claim: number;
  /** A claim that finds nothing due. */
  readonly nothingDue: number;
}

/** Medians. */
async function claimMs(
  driver: DatabaseDriver,
  { backlog, queues, idle = "mail" }: Omit<OtherJobs, "what">,
  jobs: number,
): Promise<ClaimTimes> {
  await using db = await jobsDatabase(driver, new SystemClock());
  await makeTables(db);
  const sql = new JobSql(db);
  await fillQueue(sql, { prefix: "b", queue: "bulk", priority: 0, due: 1, jobs, ...backlog });
  await fillQueue(sql, { prefix: "m", queue: "mail", priority: 10, due: 1, jobs: CLAIMED * (CLAIMS + 10) });
  const claimed = await measured(db, queues);
  await sql.run("DELETE FROM framework_jobs WHERE priority = 10");
  return { claim: claimed, nothingDue: await measured(db, [idle]) };
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
