/** Dispatches with one key while a long transaction holds it: they wait for a bounded time, and the database serves others meanwhile. */
import { FrameworkError, SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job, Jobs, type JobsOptions } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { temporaryFolder } from "../db/shop-database.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { type JobsDatabase, jobsDatabase, makeTables } from "./jobs-database.js";

const counted = job<number>("counted");
const POOL = { max: 10 };
const DISPATCHES = 12;

interface Place extends AsyncDisposable {
  readonly driver: DatabaseDriver;
}

interface Engine {
  readonly program: "postgres" | "mariadbd" | undefined;
  readonly open: () => Promise<Place>;
  /** The code of a dispatch that has waited too long. SQLite has one writer, so each write waits for it. */
  readonly refusal: string;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: {
    program: "postgres",
    open: async () => {
      const server = await PostgresServer.borrow();
      return { driver: postgres({ url: server.url, pool: POOL }), [Symbol.asyncDispose]: () => dispose(server) };
    },
    refusal: "E_JOB_KEY",
  },
  MariaDB: {
    program: "mariadbd",
    open: async () => {
      const server = await MariadbServer.borrow();
      return { driver: mysql({ url: server.url, pool: POOL }), [Symbol.asyncDispose]: () => dispose(server) };
    },
    refusal: "E_JOB_KEY",
  },
  SQLite: {
    program: undefined,
    open: async () => {
      const folder = await temporaryFolder();
      const driver = sqlite(folder.file("jobs.db"), { waitMs: 2000 });
      return { driver, [Symbol.asyncDispose]: () => dispose(folder) };
    },
    refusal: "E_DB_OVERLOADED",
  },
};

async function dispose(place: AsyncDisposable): Promise<void> {
  await place[Symbol.asyncDispose]();
}

function jobsIn(db: JobsDatabase, options: JobsOptions = {}): Jobs {
  const jobs = new Jobs({ store: new DatabaseJobs(db), ...options });
  jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
  return jobs;
}

const codeOf = (error: unknown): unknown => (error instanceof FrameworkError ? `${error.status} ${error.code}` : error);

for (const [name, { program, open, refusal }] of Object.entries(ENGINES)) {
  describe(`dispatches with a key on ${name} that a long transaction holds`, function () {
    this.timeout(60_000);
    this.slow(20_000);
    if (program !== undefined) before(needs(program));

    for (const unique of ["waiting", "until-done"] as const) {
      const dispatchAll = async (isAlone: boolean): Promise<void> => {
        await using place = await open();
        await using db = await jobsDatabase(place.driver, new SystemClock());
        await makeTables(db);
        const jobs = jobsIn(db);
        const dispatch = (number: number) => jobs.dispatch(counted, number, { key: "k", unique });
        const [held, goOn] = [new Gate(), new Gate()];
        const long = db.transaction(async () => {
          const dispatched = await dispatch(0);
          held.open();
          await goOn.passed;
          return dispatched;
        });
        await held.passed;

        const others = Array.from({ length: DISPATCHES }, (_, index) =>
          isAlone ? dispatch(index) : db.transaction(() => dispatch(index)),
        );
        const settled = Promise.allSettled(others);
        const reads = await Promise.all(Array.from({ length: 5 }, () => jobs.counts()));
        expect(reads.map(({ waiting }) => waiting)).to.deep.equal([0, 0, 0, 0, 0]);
        const codes = (await settled).map((each) => (each.status === "rejected" ? codeOf(each.reason) : each.value));
        expect(codes).to.deep.equal(Array.from({ length: DISPATCHES }, () => `503 ${refusal}`));

        goOn.open();
        const { id } = await long;
        const outcome = unique === "waiting" ? "replaced" : "kept";
        expect(await dispatch(1)).to.deep.equal({ outcome, id });
        expect(await jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
      };

      it(`do not keep others from the database, each in a transaction, unique: ${unique}`, () => dispatchAll(false));
      it(`do not keep others from the database, without a transaction, unique: ${unique}`, () => dispatchAll(true));
    }
  });
}

describe("a dispatch with a key in a transaction of PostgreSQL", function () {
  this.timeout(60_000);
  before(needs("postgres"));

  it("does not change the lock timeout of the transaction", async () => {
    await using server = await PostgresServer.borrow();
    await using db = await jobsDatabase(postgres({ url: server.url, lockTimeoutMs: 7000 }), new SystemClock());
    await makeTables(db);
    const jobs = jobsIn(db);
    const timeout = await db.transaction(async () => {
      await jobs.dispatch(counted, 1, { key: "k" });
      await jobs.dispatch(counted, 2, { key: "k", unique: "until-done" });
      return db.run("SHOW lock_timeout");
    });

    expect(timeout).to.deep.equal([{ lock_timeout: "7s" }]);
  });
});
