/** A process that is killed in the middle of a migration, and the next start, on each engine. */
import type { Migration } from "@stagecraft/framework/db";
import { expect } from "chai";
import { hostname } from "node:os";
import { Child } from "../support/child.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { killedDriver } from "./killed-migration-driver.js";
import { ShopDatabase, temporaryFolder } from "./shop-database.js";

const TWO_TABLES: Migration = {
  name: "two-tables",
  up: async (db) => {
    await db.schema.createTable("first").addColumn("id", "integer").execute();
    await db.schema.createTable("second").addColumn("id", "integer").execute();
  },
};

/** @returns the id of the killed process */
async function killHalfWay(engine: string, address: string): Promise<number | undefined> {
  await using child = await Child.start("../db/killed-migration-program.js", { ENGINE: engine, ADDRESS: address });
  await child.says("half");
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
  it("leaves nothing on SQLite, and the next start applies it", async () => {
    await using folder = await temporaryFolder();

    await leavesNothing("SQLite", folder.file("shop.db"));
  });

  describe("on PostgreSQL", () => {
    before(needs("postgres"));

    it("leaves nothing, and the next start applies it", async () => {
      await using server = await PostgresServer.start();

      await leavesNothing("PostgreSQL", server.url);
    });
  });

  describe("on MariaDB", () => {
    before(needs("mariadbd"));

    it("stops every next start, which says what began, when and where, until the table is mended", async () => {
      await using server = await MariadbServer.start();
      const pid = await killHalfWay("MariaDB", server.url);

      for (const attempt of [1, 2]) {
        const error = await rejectionOf(database("MariaDB", server.url).start());
        expect(error, `start ${attempt}`).to.include({ code: "E_DB_MIGRATION_HALF" });
        expect(error.message).to.match(/^the migration two-tables began at \d{4}-\d\d-\d\dT[\d:.]+Z, in process /);
        expect(error.message).to.contain(`, in process ${String(pid)} on ${hostname()}, and did not end`);
      }
      await server.run("drop table first; delete from framework_migrations");
      await using db = database("MariaDB", server.url);
      await db.start();

      expect(await db.migrations.status()).to.deep.equal([{ name: "two-tables", state: "done" }]);
    });
  });
});
