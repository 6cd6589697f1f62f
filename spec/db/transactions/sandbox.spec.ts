/** Tests on a database: a transaction that is rolled back, tables that are emptied, rows of a factory. */
import { emptied, factory, rolledBack } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysDatabase } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { sql } from "../../../lib/db/kysely.js";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { ShopDatabase, shopDatabase, temporaryFolder } from "../shop-database.js";

describe("obeysDatabase", function () {
  this.timeout(60_000);
  it("holds SQLite in memory to the contract", async () => {
    await using db = await shopDatabase();

    await obeysDatabase(db);
  });

  it("holds SQLite on a file to the contract", async () => {
    await using folder = await temporaryFolder();
    await using db = await shopDatabase(sqlite(folder.file("shop.db")));

    await obeysDatabase(db);
  });

  it("holds a database in a test to most of the contract", async () => {
    await using db = await shopDatabase();
    await using undo = await rolledBack(db);
    void undo;

    const error = await rejectionOf(obeysDatabase(db));

    // One connection that can write knows no read-only transaction.
    expect(error.message.match(/ {2}- /g)).to.have.length(2);
    expect(error.message).to.contain("a read-only transaction refuses a write");
  });

  it("names each promise that is broken", async () => {
    await using db = await shopDatabase();
    db.afterCommit = (work) => void work();

    const error = await rejectionOf(obeysDatabase(db));

    expect(error.message).to.contain("work for after the commit runs once, in order, and only after it");
  });
});

describe("rolledBack", () => {
  it("rolls back all changes at its end, those of committed transactions too, and runs their work for after the commit", async () => {
    await using db = await shopDatabase();
    await db.add("before");
    const seen: string[] = [];
    {
      await using undo = await rolledBack(db);
      void undo;
      await db.add("tea");
      await db.transaction(async () => {
        db.afterCommit(() => seen.push("committed"));
        await db.add("milk");
      });
      seen.push(...(await db.names()));
    }

    expect(seen).to.deep.equal(["committed", "before", "tea", "milk"]);
    expect(await db.names()).to.deep.equal(["before"]);
  });

  it("continues after a failure that the test expects", async () => {
    await using db = await shopDatabase();
    await using undo = await rolledBack(db);
    void undo;
    await db.add("tea");

    expect(await rejectionOf(db.add("tea"))).to.include({ code: "E_DB_UNIQUE" });
    await db.add("milk");

    expect(await db.names()).to.deep.equal(["tea", "milk"]);
  });

  it("runs the transactions of concurrent requests one after the other", async () => {
    await using db = await shopDatabase();
    await using undo = await rolledBack(db);
    void undo;

    await Promise.all(["a", "b", "c"].map((name) => db.transaction(() => db.add(name))));

    expect(await db.names()).to.have.length(3);
  });

  it("checks at its end the constraints that a commit would have checked", async () => {
    await using db = await shopDatabase();
    await sql`create table later (article integer references articles (id) deferrable initially deferred)`.execute(
      db.query,
    );
    const undo = await rolledBack(db);
    await sql`insert into later values (99)`.execute(db.query);

    const error = await rejectionOf(Promise.resolve(undo[Symbol.asyncDispose]()));

    expect(error).to.include({ code: "E_DB_SANDBOX" });
    expect(error.message).to.contain("later");
    expect((await sql`select * from later`.execute(db.query)).rows).to.deep.equal([]);
  });

  it("fails at its end where work of the test still runs, and names its last statement", async () => {
    const clock = new FakeClock();
    await using db = new ShopDatabase(sqlite(":memory:"));
    db.prepare({ name: "database", clock, metrics: new Metrics() });
    await db.start();
    await db.run("create table articles (name text, stock integer)");
    const [gate, begun] = [new Gate(), new Gate()];
    const undo = await rolledBack(db);
    const forgotten = db.transaction(async () => {
      await db.add("canary");
      begun.open();
      await gate.passed;
    });
    await begun.passed;

    const failed = rejectionOf(Promise.resolve(undo[Symbol.asyncDispose]()));
    await clock.advanceAsync(2000);
    const error = await failed;
    gate.open();
    await forgotten.catch(() => {});

    expect(error).to.include({ code: "E_DB_SANDBOX" });
    expect(error.message)
      .to.match(/await it .* Its last statement: insert into "articles"/)
      .and.not.contain("canary");
  });

  it("releases its connection where the transaction cannot be opened", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await using holder = await shopDatabase(sqlite(file));
    await using db = new ShopDatabase(sqlite(file, { waitMs: 10 }));
    await db.start();

    await holder.transaction(async () => {
      expect(await rejectionOf(rolledBack(db))).to.include({ code: "E_DB_BUSY" });
    });
    await db.add("tea");

    expect(await db.names()).to.deep.equal(["tea"]);
  });

  describe("on MariaDB", () => {
    before(needs("mariadbd"));

    it("refuses a change of the schema, which has committed the changes of the test", async () => {
      await using server = await MariadbServer.borrow();
      await using db = await shopDatabase(mysql(server.url));
      const undo = await rolledBack(db);

      const error = await rejectionOf(db.run("create table more (id integer)"));
      await undo[Symbol.asyncDispose]();

      expect(error).to.include({ code: "E_DB_SANDBOX" });
      expect(error.message).to.contain("has committed the transaction of the test");
    });
  });
});

describe("emptied", () => {
  it("deletes the rows of all tables, in any order of their references", async () => {
    await using db = await shopDatabase();
    await db.add("tea");
    await db.query.insertInto("orders").values({ article: 1, note: null }).execute();

    await emptied(db);

    expect(await db.names()).to.deep.equal([]);
    expect(await db.query.selectFrom("orders").selectAll().execute()).to.deep.equal([]);
  });

  describe("on MariaDB", () => {
    before(needs("mariadbd"));

    it("leaves the checks of foreign keys on, also where it fails", async () => {
      await using server = await MariadbServer.borrow();
      await using db = await shopDatabase(mysql({ url: server.url, pool: { max: 1 } }));
      await server.run("insert into articles values (1, 'tea', 1)");
      await server.run("create trigger kept before delete on articles for each row signal sqlstate '45000'");

      expect(await rejectionOf(emptied(db))).to.include({ engineCode: "ER_SIGNAL_EXCEPTION" });

      expect(await db.run("select @@foreign_key_checks as checks")).to.deep.equal([{ checks: 1 }]);
    });
  });
});

describe("a factory", () => {
  it("makes rows that differ, and stores them with the values of the test", async () => {
    await using db = await shopDatabase();
    const articles = factory(db, "articles", (n) => ({ name: `article ${n}`, stock: 1 }));

    const made = articles.make();
    const stored = await articles.create({ stock: 7 });
    const [third, fourth] = await articles.createMany(2);

    expect(made).to.deep.equal({ name: "article 1", stock: 1 });
    expect(stored).to.deep.equal({ id: 1, name: "article 2", stock: 7 });
    expect([third?.name, fourth?.name]).to.deep.equal(["article 3", "article 4"]);
  });
});
