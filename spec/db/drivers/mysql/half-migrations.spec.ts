/** A migration whose one statement fails on MariaDB, and has changed the schema all the same. */
import type { Migration } from "@stagecraft/framework/db";
import { expect } from "chai";
import { sql } from "../../../../lib/db/kysely.js";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { ShopDatabase } from "../../shop-database.js";

describe("a migration of MariaDB that drops two tables, of which one is missing,", function () {
  this.timeout(60_000);
  let server: MariadbServer;

  before(needs("mariadbd"));
  before(async () => {
    server = await MariadbServer.borrow();
    await server.run("create table old_orders (id int)");
  });
  after(() => server[Symbol.asyncDispose]());

  it("has dropped the other one, so the next start fails", async () => {
    const drop: Migration = { name: "drop", up: (db) => sql`drop table old_orders, old_articles`.execute(db) };
    const shop = () => new ShopDatabase(mysql(server.url), { migrations: [drop], migrate: true });

    await using first = shop();
    expect(await rejectionOf(first.start())).to.include({ engineCode: "ER_BAD_TABLE_ERROR" });

    expect(await server.run("show tables like 'old_orders'")).to.deep.equal([]);
    await using next = shop();
    expect(await rejectionOf(next.start())).to.include({ code: "E_DB_MIGRATION_HALF" });
  });
});
