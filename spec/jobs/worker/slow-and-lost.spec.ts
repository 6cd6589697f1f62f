/** Workers behind a proxy: responses of the server that are lost after its commit, and round trips of 100 ms. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, type JobContext, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { JobSql } from "../../../lib/jobs/stores/database/job-sql.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { until } from "../../support/until.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";

const once = job("once", undefined, { attempts: 1 });
const endless = job("endless");
const CLAIMS = 500;
const WAY_MS = 50;

class Handlers {
  readonly runs: { readonly attempt: number; readonly token: number }[] = [];
  waiting = 0;

  @Handles(once)
  run(_: undefined, { attempt, token }: JobContext): void {
    this.runs.push({ attempt, token });
  }

  @Handles(endless)
  async wait(_: undefined, { signal }: JobContext): Promise<void> {
    this.waiting += 1;
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  }
}

interface Server extends AsyncDisposable {
  readonly url: string;
}

interface Engine {
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<Server>;
  readonly driver: (url: string) => DatabaseDriver;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: { program: "postgres", start: () => PostgresServer.borrow(), driver: (url) => postgres({ url }) },
  MariaDB: { program: "mariadbd", start: () => MariadbServer.borrow(), driver: (url) => mysql({ url }) },
};

/** The direct way to the tables, and a worker behind the proxy. */
async function opened(driver: Engine["driver"], proxy: TcpProxy, server: Server) {
  const clock = new SystemClock();
  const [direct, proxied] = [
    await jobsDatabase(driver(server.url), clock),
    await jobsDatabase(driver(proxy.url), clock),
  ];
  await makeTables(direct);
  const handlers = new Handlers();
  const [dispatcher, worker] = [direct, proxied].map((db) => {
    const jobs = new Jobs({ store: new DatabaseJobs(db), concurrency: CLAIMS, inWebProcess: false });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [handlers] });
    return jobs;
  });
  if (dispatcher === undefined || worker === undefined) throw new Error("there are two");
  return { direct, proxied, dispatcher, worker, handlers };
}

for (const [name, { program, start, driver }] of Object.entries(ENGINES))
  describe(`a worker behind a proxy, on ${name}`, function () {
    this.timeout(120_000);
    this.slow(20_000);
    before(needs(program));

    it("runs the jobs of a claim whose response is lost at once, at their first attempt", async () => {
      await using server = await start();
      await using proxy = await TcpProxy.start(server.url);
      const { direct, proxied, dispatcher, worker, handlers } = await opened(driver, proxy, server);
      const { id } = await dispatcher.dispatch(once);
      let isSent = false;
      proxy.cutsAt = (bytes, from) => {
        // PostgreSQL answers with the rows after the commit, which MariaDB gets as a statement of its own.
        if (name === "PostgreSQL") return from === "server" && bytes.includes(id);
        if (from === "client") isSent ||= bytes.includes(id);
        return isSent && from === "client" && /commit/i.test(bytes.toString("latin1"));
      };
      await worker.beginWork("worker");
      await until(() => handlers.runs.length > 0);
      await until(async () => (await dispatcher.counts()).running === 0);
      await worker.endWork(1000);
      for (const db of [direct, proxied]) await db.stop();

      // The token is that of the second claim: the first one was committed.
      expect(handlers.runs).to.deep.equal([{ attempt: 1, token: 2 }]);
      expect(proxy.cuts).to.equal(1);
    });

    it("renews, releases and drains five hundred claims in a few round trips of 100 ms", async () => {
      await using server = await start();
      await using proxy = await TcpProxy.start(server.url, WAY_MS);
      const { direct, proxied, dispatcher, worker, handlers } = await opened(driver, proxy, server);
      await dispatcher.dispatchAll(endless, Array.from({ length: CLAIMS }));
      await worker.beginWork("worker");
      await until(() => handlers.waiting === CLAIMS);
      const { rows } = await new JobSql(direct).run("SELECT id, token FROM framework_jobs");
      const claims = rows.map((row) => ({ id: String(row["id"]), token: Number(row["token"]) }));
      const began = performance.now();
      const refused = await new DatabaseJobs(proxied).renew(claims, 300_000);
      const renewedMs = performance.now() - began;
      const drained = performance.now();
      await worker.endWork(500);
      const drainedMs = performance.now() - drained;
      const counts = await dispatcher.counts();
      for (const db of [direct, proxied]) await db.stop();

      expect(refused).to.deep.equal([]);
      expect(counts).to.deep.equal({ waiting: CLAIMS, running: 0, dead: 0 });
      // One by one they would take 50 s.
      expect(renewedMs).to.be.below(10_000);
      expect(drainedMs).to.be.below(10_000);
    });
  });
