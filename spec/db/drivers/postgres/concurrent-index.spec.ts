/** Migrations that build an index `concurrently`, which waits for the end of each transaction that has a snapshot. */
import type { Migration } from "@stagecraft/framework/db";
import { expect } from "chai";
import { sql } from "../../../../lib/db/kysely.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";
import { ShopDatabase } from "../../shop-database.js";

/** The wait for the lock opens a transaction for each attempt. */
const WAITING = "select pid from pg_stat_activity where query = 'rollback'";

describe("an index that a migration builds concurrently", function () {
  this.timeout(60_000);
  let server: PostgresServer;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    await server.run("create table articles (id integer primary key, name text, stock integer)");
    await server.run("insert into articles values (1, 'tea', 1), (2, 'tea', 1)");
  });
  afterEach(() => server.run("alter role owner reset default_transaction_isolation"));
  after(() => server[Symbol.asyncDispose]());

  const shop = (migrations: readonly Migration[]) =>
    new ShopDatabase(postgres({ url: server.url, lockTimeoutMs: 2000 }), { migrations, migrate: true });

  for (const isolation of ["read committed", "repeatable read"])
    it(`waits for no other instance that starts, where transactions are ${isolation}`, async () => {
      await server.run(`alter role owner set default_transaction_isolation = '${isolation}'`);
      const name = `articles_stock_${isolation.replace(" ", "_")}`;
      const index: Migration = {
        name,
        transaction: false,
        up: async (db) => {
          await until(async () => (await server.run(WAITING)).length > 0);
          await sql`create index concurrently ${sql.ref(name)} on articles (stock)`.execute(db);
        },
      };
      await using one = shop([index]);
      await using other = shop([index]);

      await Promise.all([one.start(), other.start()]);

      expect(await one.migrations.status()).to.deep.equal([{ name, state: "done" }]);
    });

  it("and that fails stays as an invalid one, so the next start fails", async () => {
    const unique: Migration = {
      name: "unique-names",
      transaction: false,
      up: (db) => sql`create unique index concurrently if not exists articles_name on articles (name)`.execute(db),
    };

    await using one = shop([unique]);
    expect(await rejectionOf(one.start())).to.include({ code: "E_DB_UNIQUE" });

    await using next = shop([unique]);
    expect(await rejectionOf(next.start())).to.include({ code: "E_DB_MIGRATION_HALF" });
  });
});
