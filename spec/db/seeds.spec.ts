/** `db.seeds`: in their order, each in one transaction, and again with each call. */
import { type DatabaseOptions, type SeededDatabase, UniqueViolationError } from "@stagecraft/framework/db";
import { expect } from "chai";
import { eventsOf } from "../support/events-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { shopDatabase, type ShopDatabase } from "./shop-database.js";

const withSeeds = (...seeds: NonNullable<DatabaseOptions["seeds"]>) => shopDatabase(undefined, { seeds });

async function addApples(db: ShopDatabase): Promise<void> {
  await db.query
    .insertInto("articles")
    .values({ id: 1, name: "apples", stock: 3 })
    .onConflict((id) => id.column("id").doNothing())
    .execute();
}

async function addPears(db: ShopDatabase): Promise<void> {
  await db.add("pears");
}

async function addTwice(db: ShopDatabase): Promise<void> {
  await db.add("plums");
  await db.add("pears");
}

describe("seeds", () => {
  it("run in their order with the class of the database, and return their names", async () => {
    await using db = await withSeeds(addApples, (any: SeededDatabase) => any.run("update articles set stock = 9"));

    expect(await db.seeds.run()).to.deep.equal(["addApples", "seed 2"]);

    expect(await db.run("select name, stock from articles")).to.deep.equal([{ name: "apples", stock: 9 }]);
    expect(await db.seeds.run()).to.have.length(2);
    expect(await db.names()).to.deep.equal(["apples"]);
  });

  it("run at no start", async () => {
    await using db = await withSeeds(addApples);

    expect(await db.names()).to.deep.equal([]);
  });

  it("that fail leave nothing, keep the earlier ones, and are named", async () => {
    await using db = await withSeeds(addPears, addTwice, addApples);

    const error = await rejectionOf(db.seeds.run());

    expect(error).to.include({ code: "E_DB_SEED" });
    expect(error.message).to.include("ShopDatabase: the seed addTwice failed");
    expect(error.cause).to.be.instanceOf(UniqueViolationError);
    expect(await db.names()).to.deep.equal(["pears"]);
  });

  it("are each an event with the name", async () => {
    await using db = await withSeeds(addApples);

    const events = await eventsOf(() => db.seeds.run());

    expect(events.filter((line) => line.includes("seeds"))).to.deep.equal([
      "INFO framework::db::seeds: seed has run seed=addApples",
    ]);
  });
});
