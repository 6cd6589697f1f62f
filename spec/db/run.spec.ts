/** `db.run` sends SQL of the application: which statements count as reads, and values that are not SQL. */
import { Database } from "@stagecraft/framework/db";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";
import { ScriptedDriver } from "./scripted-driver.js";
import { shopDatabase } from "./shop-database.js";

class ShopDatabase extends Database<object> {}

async function connectionFor(text: string): Promise<string | undefined> {
  const driver = new ScriptedDriver();
  await new ShopDatabase(driver).run(text);
  return driver.calls[0];
}

const READS = [
  "select 1",
  "  SELECT name FROM items; ",
  "values (1)",
  "explain select 1",
  "select id from items for update",
];
const WRITES = [
  "insert into items values (1)",
  "with x as (insert into items values (1) returning id) select * from x",
  "select 1; delete from items",
  "select * into copied from items",
  "explain analyze delete from items",
  "EXPLAIN (ANALYSE, verbose) delete from items",
  "begin",
];

describe("a text of SQL", () => {
  for (const text of READS)
    it(`reads: ${text}`, async () => {
      expect(await connectionFor(text)).to.equal("connect to read");
    });

  for (const text of WRITES)
    it(`may write: ${text}`, async () => {
      expect(await connectionFor(text)).to.equal("connect");
    });

  for (const text of [undefined, null, 7, { canary: 1 }])
    it(`is not ${text === null ? "null" : typeof text}, which takes no connection`, async () => {
      const driver = new ScriptedDriver();

      const error = await rejectionOf(new ShopDatabase(driver).run(text as unknown as string));
      expect(error).to.include({ code: "E_DB_STATEMENT" });
      expect(error.message).to.not.contain("canary");
      expect(driver.calls).to.deep.equal([]);
    });

  it("that opens a transaction is rolled back at its end, and a database in memory keeps its rows", async () => {
    await using db = await shopDatabase();
    await db.add("tea");
    for (const text of ["begin", "savepoint here", "begin immediate"]) {
      await db.run(text);
      await db.add(`after ${text}`);
    }
    expect(await db.names()).to.deep.equal(["tea", "after begin", "after savepoint here", "after begin immediate"]);
  });

  it("that ends a transaction which only reads leaves a database in memory to write", async () => {
    await using db = await shopDatabase();
    await rejectionOf(db.transaction(() => db.run("rollback"), { readOnly: true }));
    await db.add("tea");

    expect(await db.names()).to.deep.equal(["tea"]);
  });
});
