/** Events of a deadlock on a real server: one transaction is retried, and each listener gets each event once. */
import { Application, event, Events, Injectable, Module, On, provide } from "@stagecraft/framework";
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";

const moved = event<{ readonly by: string; readonly attempt: number }>("stock.moved");

class ShopDatabase extends Database<{ readonly items: { readonly id: number; readonly stock: number } }> {
  take(id: number) {
    return this.query
      .updateTable("items")
      .set((eb) => ({ stock: eb("stock", "-", 1) }))
      .where("id", "=", id)
      .execute();
  }
}

@Injectable()
class Listener {
  readonly heard: string[] = [];
  readonly inTransactions: string[] = [];

  @On(moved)
  afterCommit({ by }: { readonly by: string }): void {
    this.heard.push(by);
  }

  @On(moved, { inTransaction: true })
  atOnce({ by }: { readonly by: string }): void {
    this.inTransactions.push(by);
  }
}

const ENGINES: readonly (readonly [
  name: string,
  program: "postgres" | "mariadbd",
  start: () => Promise<AsyncDisposable & { readonly url: string }>,
  driver: (url: string) => DatabaseDriver,
])[] = [
  ["PostgreSQL", "postgres", () => PostgresServer.borrow(), (url) => postgres({ url })],
  ["MariaDB", "mariadbd", () => MariadbServer.borrow(), (url) => mysql({ url })],
];

for (const [name, program, start, driver] of ENGINES)
  describe(`events of a deadlock on ${name}`, function () {
    this.timeout(60_000);
    before(needs(program));

    it("reach their listeners once after the commit, also those of a retried transaction", async () => {
      await using server = await start();
      @Module({
        providers: [Listener, provide(ShopDatabase).useFactory(() => new ShopDatabase(driver(server.url)))],
      })
      class Shop {}
      await using app = await testApp(Application.create(Shop));
      const db = app.resolve(ShopDatabase);
      await db.run("create table items (id integer primary key, stock integer not null)");
      await db.run("insert into items values (1, 10), (2, 10)");

      const both = new Gate();
      let holders = 0;
      let attempts = 0;
      const move = (by: string, first: number, second: number) =>
        db.transaction(
          async ({ attempt }) => {
            attempts++;
            await db.take(first);
            await app.resolve(Events).emit(moved, { by, attempt });
            holders++;
            if (holders === 2) both.open();
            await both.passed;
            await db.transaction(() => db.take(second));
          },
          { retries: 5 },
        );
      await Promise.all([move("one", 1, 2), move("other", 2, 1)]);

      const { heard, inTransactions } = app.resolve(Listener);
      expect(attempts).to.be.above(2);
      expect(inTransactions).to.have.length(attempts);
      expect(heard).to.have.members(["one", "other"]).and.have.length(2);
      const rows = await db.run("select stock from items order by id");
      expect(rows).to.deep.equal([{ stock: 8 }, { stock: 8 }]);
    });
  });
