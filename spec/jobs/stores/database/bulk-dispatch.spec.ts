/** Many jobs in one call: each row has the payload as it was written, and what its job alone has beside what all have in common. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { type ClaimedJob, DatabaseJobs, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { z } from "zod";
import { removeClaimed } from "../../../../lib/jobs/stores/database/claimed-jobs.js";
import { insertJobs } from "../../../../lib/jobs/stores/database/insert-jobs.js";
import { type JobDatabase, JobSql, type RawStatement } from "../../../../lib/jobs/stores/database/job-sql.js";
import type { NewJob } from "../../../../lib/jobs/job-store.js";
import { temporaryFolder } from "../../../db/shop-database.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { jobsDatabase, makeTables } from "../../jobs-database.js";

interface Place extends AsyncDisposable {
  readonly driver: DatabaseDriver;
}

interface Engine {
  readonly program?: "postgres" | "mariadbd";
  readonly open: () => Promise<Place>;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  SQLite: {
    open: async () => {
      const folder = await temporaryFolder();
      return { driver: sqlite(folder.file("jobs.db")), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
    },
  },
  PostgreSQL: {
    program: "postgres",
    open: async () => {
      const server = await PostgresServer.borrow();
      return { driver: postgres({ url: server.url }), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
  MariaDB: {
    program: "mariadbd",
    open: async () => {
      const server = await MariadbServer.borrow();
      return { driver: mysql({ url: server.url }), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
};

const PAYLOADS = [
  null,
  "",
  "a,b",
  "\u0000",
  "\ud83d",
  "😀\\\"'\n",
  1e300,
  -0.1,
  [],
  {},
  [1, [2, "]"]],
  { "a,b": "{}" },
];
const anything = job<unknown>("anything");
const keyed = job("keyed", z.object({ account: z.number() }), {
  concurrency: { key: ({ account }) => String(account), limit: 2 },
});

const PLAIN: NewJob = {
  id: "",
  name: "traced",
  queue: "default",
  priority: 0,
  payload: "null",
  delayMs: 0,
  maxAttempts: 3,
  key: undefined,
  unique: "waiting",
  requestId: undefined,
  traceparent: undefined,
  tracestate: undefined,
};

/** The jobs of two requests, and one outside of a request. Each job of a request has a span of its own. */
const TRACED: readonly Partial<NewJob>[] = [
  { requestId: "one", traceparent: "00-1-1-01", tracestate: "a=1,b=2" },
  { requestId: "one", traceparent: "00-1-2-01", tracestate: "a=1,b=2" },
  { requestId: "two", traceparent: "00-2-1-01" },
  { priority: 7, queue: "mail", maxAttempts: 9 },
];

async function storeOn(driver: DatabaseDriver) {
  const clock = new SystemClock();
  const db = await jobsDatabase(driver, clock);
  await makeTables(db);
  const store = new DatabaseJobs(db);
  const jobs = new Jobs({ store });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
  return { jobs, store, [Symbol.asyncDispose]: () => db.stop() };
}

async function claimAll(store: DatabaseJobs): Promise<readonly ClaimedJob[]> {
  const jobs = await store.claim({ worker: "worker", queues: undefined, limit: 100, leaseMs: 60_000 });
  return jobs.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function kept({ id, name, queue, maxAttempts, requestId, traceparent, tracestate }: NewJob | ClaimedJob) {
  return { id, name, queue, maxAttempts, requestId, traceparent, tracestate };
}

for (const [engine, { program, open }] of Object.entries(ENGINES)) {
  describe(`jobs that are dispatched together, on ${engine}`, function () {
    this.timeout(60_000);
    if (program !== undefined) before(needs(program));

    it("have exactly the payloads of their dispatches", async () => {
      await using place = await open();
      await using prepared = await storeOn(place.driver);
      const dispatched = await prepared.jobs.dispatchAll(anything, PAYLOADS);
      const claimed = await claimAll(prepared.store);

      expect(claimed.map(({ id }) => id)).to.deep.equal(dispatched.map(({ id }) => id));
      expect(claimed.map(({ payload }) => payload)).to.deep.equal(PAYLOADS.map((payload) => JSON.stringify(payload)));
    });

    it("have the concurrency keys of their payloads", async () => {
      await using place = await open();
      await using prepared = await storeOn(place.driver);
      const accounts = [1, 1, 1, 2].map((account) => ({ account }));
      await prepared.jobs.dispatchAll(keyed, accounts);
      const claimed = await claimAll(prepared.store);

      expect(claimed.map(({ payload }) => payload)).to.have.members([
        '{"account":1}',
        '{"account":1}',
        '{"account":2}',
      ]);
    });

    it("have the same columns as jobs that are dispatched alone", async () => {
      await using place = await open();
      await using prepared = await storeOn(place.driver);
      const added = TRACED.map((some, at) => ({ ...PLAIN, ...some, id: `id-${at}` }));
      await prepared.store.add(added);
      const claimed = await claimAll(prepared.store);

      expect(claimed.map(kept)).to.deep.equal(added.map(kept));
    });
  });
}

describe("the statements of many jobs, on PostgreSQL", () => {
  it("have the same text and the same number of binds for any number of jobs", async () => {
    const sent: string[] = [];
    const sql = new JobSql(recording(sent));
    // A text for a table of one size.
    sql.recordSize(8192);
    for (const count of [2, 3, 500]) {
      const jobs = Array.from({ length: count }, (_, at) => ({ ...PLAIN, id: `id-${at}`, delayMs: count }));
      await insertJobs(sql, jobs);
      await removeClaimed(
        sql,
        jobs.map(({ id }) => ({ id, token: count })),
      );
    }

    expect(sent).to.have.lengthOf(6);
    expect(new Set(sent)).to.have.lengthOf(2);
  });
});

/** A database that keeps the texts of the statements, with the number of their binds. */
function recording(sent: string[]): JobDatabase {
  const executeQuery = async ({ sql, parameters }: RawStatement) => {
    sent.push(`${sql} (${parameters.length})`);
    return { rows: [] };
  };
  return {
    driver: { dialect: { family: "postgres" } },
    query: { withoutPlugins: () => ({ executeQuery }) },
    transaction: (fn) => fn(),
    current: (fn) => fn(),
  };
}
