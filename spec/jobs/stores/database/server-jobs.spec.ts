/** Jobs in PostgreSQL and MariaDB: the contract, by the clock of a test and by that of the server, and a rush of writers. */
import { EventEmitter, once } from "node:events";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { SystemClock } from "@stagecraft/framework";
import { type ClaimedJob, DatabaseJobs, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysQueue } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { JobSql } from "../../../../lib/jobs/stores/database/job-sql.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { until } from "../../../support/until.js";
import { jobsDatabase, makeTables, passSlowly } from "../../jobs-database.js";

const counted = job<number>("counted");
const WRITERS = 50;
/** On a busy machine the last of the writers waits long for a connection. */
const PATIENT = { waitMs: 60_000, connectMs: 60_000 };

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

interface Engine {
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<AsyncDisposable & { readonly url: string }>;
  readonly driver: (url: string) => DatabaseDriver;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: {
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (url) => postgres({ url, pool: PATIENT }),
  },
  MariaDB: { program: "mariadbd", start: () => MariadbServer.borrow(), driver: (url) => mysql({ url, pool: PATIENT }) },
};

for (const [name, { program, start, driver }] of Object.entries(ENGINES)) {
  describe(`DatabaseJobs on ${name}`, function () {
    this.timeout(180_000);
    this.slow(5000);
    let server: AsyncDisposable & { readonly url: string };

    before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server[Symbol.asyncDispose]());

    it("obeys the contract of a queue", async () => {
      const clock = new FakeClock();
      await using db = await jobsDatabase(driver(server.url), clock);
      await makeTables(db);
      const store = new DatabaseJobs(db);
      store.prepare({ clock });
      await obeysQueue((options) => new Jobs({ ...options, store }), {
        clock,
        store,
        pass: (ms) => passSlowly(clock, ms, db),
      });
    });

    it("keeps the job that another process dispatched after a transaction has started to read", async () => {
      const clock = new SystemClock();
      await using db = await jobsDatabase(driver(server.url), clock);
      await using other = await jobsDatabase(driver(server.url), clock);
      await makeTables(db);
      const [jobs, others] = [db, other].map((each) => new Jobs({ store: new DatabaseJobs(each) }));
      for (const each of [jobs, others])
        each?.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
      const options = { key: "k", unique: "until-done" } as const;
      // Made here, so that the other process does not run in the transaction.
      const begin = new EventEmitter();
      const dispatched = once(begin, "read").then(() => others?.dispatch(counted, 1, options));
      const kept = await db.transaction(async () => {
        await new JobSql(db).run("SELECT id FROM framework_jobs");
        begin.emit("read");
        await dispatched;
        return jobs?.dispatch(counted, 2, options);
      });

      expect(kept).to.deep.equal({ outcome: "kept", id: (await dispatched)?.id });
    });

    it("runs the jobs of fifty writers at once, each once, by the time of the server", async () => {
      const clock = new SystemClock();
      await using db = await jobsDatabase(driver(server.url), clock);
      await makeTables(db);
      const counters = [new Counter(), new Counter()];
      const processes = counters.map((counter) => {
        const jobs = new Jobs({ store: new DatabaseJobs(db), concurrency: 8, prefetch: 8 });
        jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [counter] });
        return jobs;
      });
      for (const jobs of processes) await jobs.beginWork("worker");
      const [jobs] = processes;
      const write = (writer: number) =>
        db.transaction(async () => {
          for (let each = 0; each < 4; each++) await jobs?.dispatch(counted, writer * 4 + each);
        });
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      const seen = (): readonly number[] => counters.flatMap((counter) => counter.seen);
      await until(() => seen().length >= WRITERS * 4);
      await until(async () => (await jobs?.counts())?.running === 0);
      for (const each of processes) await each.endWork(1000);

      const expected = Array.from({ length: WRITERS * 4 }, (_, number) => number);
      expect(seen().toSorted((one, other) => one - other)).to.deep.equal(expected);
      expect(await jobs?.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
    });
  });
}

describe("DatabaseJobs on PostgreSQL after an empty queue", function () {
  this.timeout(60_000);
  this.slow(5000);

  before(needs("postgres"));

  it("claim and complete a job without reading each waiting job", async () => {
    await using server = await PostgresServer.borrow();
    await using db = await jobsDatabase(postgres({ url: server.url, pool: { max: 1 } }), new SystemClock());
    await makeTables(db);
    // A borrowed server makes no statistics itself. Statistics of an empty table, and statements whose plans the server has made by then.
    await server.run("ANALYZE framework_jobs");
    const store = new DatabaseJobs(db);
    await store.heartbeat({ id: "worker", names: [], queues: undefined });
    for (let each = 0; each < 10; each++) await claimSome(store, 1);
    await server.run(MANY);
    for (const limit of [1, 20, 500])
      for (let each = 0; each < 10; each++) await store.complete(await claimSome(store, limit));
    await db.stop();
    // The server adds what a connection has counted at its end.
    await until(async () => (await server.run(CLIENTS)).length === 0);

    const [read] = await server.run("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'framework_jobs'");
    expect(Number(read?.["seq_tup_read"])).to.be.below(WAITING);
  });
});

const WAITING = 50_000;
const CLIENTS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
const MANY = `INSERT INTO framework_jobs (id, name, queue, priority, payload, max_attempts, due) SELECT lpad(n::text, 36, '0'), 'counted', 'default', 50, '1', 5, 1 FROM generate_series(1, ${WAITING}) n`;

function claimSome(store: DatabaseJobs, limit: number): Promise<readonly ClaimedJob[]> {
  return store.claim({ worker: "worker", queues: undefined, limit, leaseMs: 60_000 });
}
