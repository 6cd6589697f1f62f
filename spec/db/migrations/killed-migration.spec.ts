/** A process that is killed in the middle of a migration, and the next start, on each engine. */
import type { Migration } from "@stagecraft/framework/db";
import { expect } from "chai";
import { hostname } from "node:os";
import { Child } from "../../support/child.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { killedDriver } from "./killed-migration-driver.js";
import { ShopDatabase, temporaryFolder } from "../shop-database.js";

/** The wait for the lock opens a transaction for each attempt. */
const WAITING_ON_POSTGRES = "select pid from pg_stat_activity where query = 'rollback'";
const WAITING_ON_MARIADB = "select id from information_schema.processlist where state = 'User lock'";

const TWO_TABLES: Migration = {
  name: "two-tables",
  up: async (db) => {
    await db.schema.createTable("first").addColumn("id", "integer").execute();
    await db.schema.createTable("second").addColumn("id", "integer").execute();
  },
};

/** @param meanwhile runs before the kill @returns the id of the killed process */
async function killHalfWay(
  engine: string,
  address: string,
  meanwhile?: () => Promise<unknown>,
): Promise<number | undefined> {
  await using child = await Child.start("../db/migrations/killed-migration-program.js", {
    ENGINE: engine,
    ADDRESS: address,
  });
  await child.says("half");
  await meanwhile?.();
  child.kill("SIGKILL");
  await child.exitCode();
  return child.pid;
}

function database(engine: string, address: string): ShopDatabase {
  return new ShopDatabase(killedDriver(engine, address), { migrations: [TWO_TABLES], migrate: true });
}

async function leavesNothing(engine: string, address: string): Promise<void> {
  await killHalfWay(engine, address);

  await using db = database(engine, address);
  await db.start();

  expect(await db.migrations.status()).to.deep.equal([{ name: "two-tables", state: "done" }]);
}

describe("a migration whose process is killed half-way", function () {
  this.timeout(60_000);
  it("leaves no change on SQLite, and the next start applies it", async () => {
    await using folder = await temporaryFolder();

    await leavesNothing("SQLite", folder.file("shop.db"));
  });

  describe("on PostgreSQL", () => {
    before(needs("postgres"));

    it("leaves no change on PostgreSQL, and the next start applies it", async () => {
      await using server = await PostgresServer.borrow();

      await leavesNothing("PostgreSQL", server.url);
    });

    it("lets a waiting start continue on PostgreSQL", async () => {
      await using server = await PostgresServer.borrow();
      await using db = database("PostgreSQL", server.url);
      let started: Promise<void> | undefined;
      await killHalfWay("PostgreSQL", server.url, async () => {
        started = db.start();
        await until(async () => (await server.run(WAITING_ON_POSTGRES)).length > 0);
      });
      await started;

      expect(await db.migrations.status()).to.deep.equal([{ name: "two-tables", state: "done" }]);
    });
  });

  describe("on MariaDB", () => {
    before(needs("mariadbd"));

    it("fails a waiting start on MariaDB as half applied", async () => {
      await using server = await MariadbServer.borrow();
      let started: Promise<Error> | undefined;
      await killHalfWay("MariaDB", server.url, async () => {
        started = rejectionOf(database("MariaDB", server.url).start());
        await until(async () => (await server.run(WAITING_ON_MARIADB)).length > 0);
      });

      expect(await started).to.include({ code: "E_DB_MIGRATION_HALF" });
    });

    it("fails every next start on MariaDB with its name, time and process, until the table is corrected", async () => {
      await using server = await MariadbServer.borrow();
      const pid = await killHalfWay("MariaDB", server.url);

      for (const attempt of [1, 2]) {
        const error = await rejectionOf(database("MariaDB", server.url).start());
        expect(error, `start ${attempt}`).to.include({ code: "E_DB_MIGRATION_HALF" });
        expect(error.message).to.match(/^the migration two-tables started at \d{4}-\d\d-\d\dT[\d:.]+Z, in process /);
        expect(error.message).to.contain(`, in process ${String(pid)} on ${hostname()}, and did not end`);
      }
      await server.run("drop table first; delete from framework_migrations");
      await using db = database("MariaDB", server.url);
      await db.start();

      expect(await db.migrations.status()).to.deep.equal([{ name: "two-tables", state: "done" }]);
    });
  });
});
