/** Dead jobs that several callers retry at once, in databases with several connections. */
import { SystemClock } from "@stagecraft/framework";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs } from "@stagecraft/framework/jobs";
import { expect } from "chai";
import { JobSql } from "../../lib/jobs/stores/database/job-sql.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { until } from "../support/until.js";
import { jobsDatabase, makeTables } from "./jobs-database.js";

const ID = "0".repeat(36);
const DEAD = `INSERT INTO framework_dead_jobs (id, name, queue, priority, payload, max_attempts, reason, died_at) VALUES ('${ID}', 'work', 'default', 0, '1', 5, 'failed', 1)`;

interface Server extends AsyncDisposable {
  readonly url: string;
  run(sql: string): Promise<readonly Record<string, unknown>[]>;
}

interface Engine {
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<Server>;
  readonly driver: (url: string) => DatabaseDriver;
  /** The statements that wait for a lock. */
  readonly waiting: string;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: {
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (url) => postgres({ url }),
    waiting: "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
  },
  MariaDB: {
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: (url) => mysql({ url }),
    // The table `innodb_trx` stays as it was at the first look while a look comes every 100 ms.
    waiting:
      "SELECT 1 FROM information_schema.global_status WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0",
  },
};

for (const [name, { program, start, driver, waiting }] of Object.entries(ENGINES)) {
  describe(`a dead job on ${name}`, function () {
    this.timeout(60_000);
    this.slow(10_000);
    before(needs(program));

    it("is retried by only one of two callers, while the transaction of the first is open", async () => {
      await using server = await start();
      await using db = await jobsDatabase(driver(server.url), new SystemClock());
      await makeTables(db);
      await new JobSql(db).run(DEAD);
      const store = new DatabaseJobs(db);
      const [retried, goOn] = [new Gate(), new Gate()];
      const first = db.transaction(async () => {
        const isRevived = await store.retry(ID);
        retried.open();
        await goOn.passed;
        return isRevived;
      });
      await retried.passed;
      const second = store.retry(ID);
      await until(async () => (await server.run(waiting)).length > 0);
      goOn.open();

      expect(await Promise.all([first, second])).to.deep.equal([true, false]);
      expect(await store.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
    });
  });
}
