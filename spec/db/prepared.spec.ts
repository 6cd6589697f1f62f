/** Queries that are compiled once: their values, their transactions, and the builders that are refused. */
import { DatabaseError, type PreparedQuery } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { CamelCasePlugin, type KyselyPlugin, sql } from "kysely";
import { rejectionOf } from "../support/rejection-of.js";
import { ShopDatabase, shopDatabase } from "./shop-database.js";

class PreparedShop extends ShopDatabase {
  readonly named = this.prepared((name: string) =>
    this.query.selectFrom("articles").select("stock").where("name", "=", name).where("stock", "<", 100),
  );
  readonly between = this.prepared((from: number, to: number) =>
    this.query
      .selectFrom("articles")
      .select("name")
      .where("stock", ">=", from)
      .where("stock", "<=", to)
      .orderBy("name"),
  );
  readonly insert = this.prepared((name: string, stock: number) =>
    this.query.insertInto("articles").values({ name, stock }).returning("name"),
  );
}

async function preparedShop(plugins: readonly KyselyPlugin[] = []): Promise<PreparedShop> {
  const db = new PreparedShop(sqlite(":memory:"), { plugins });
  await db.start();
  await sql`create table articles (id integer primary key, name text not null unique, stock integer not null)`.execute(
    db.query,
  );
  return db;
}

describe("a prepared query", () => {
  it("runs with the values of each call, at their places, and with its own constants", async () => {
    await using db = await preparedShop();
    for (const [name, stock] of [
      ["pen", 3],
      ["ink", 7],
      ["cart", 500],
    ] as const)
      await db.insert.all(name, stock);

    expect(await db.named.first("pen")).to.deep.equal({ stock: 3 });
    expect(await db.named.first("ink")).to.deep.equal({ stock: 7 });
    expect(await db.named.first("cart")).to.equal(undefined);
    expect(await db.between.all(3, 7)).to.deep.equal([{ name: "ink" }, { name: "pen" }]);
    expect(await db.between.all(7, 3)).to.deep.equal([]);
    expect(await db.insert.first("lamp", 1)).to.deep.equal({ name: "lamp" });
  });

  it("reads no row of SQLite after the first one that is asked for", async () => {
    await using db = await preparedShop();
    // The smallest integer has no absolute value: the engine fails at the second row.
    const absolutes = db.prepared(() =>
      db.query
        .selectFrom("articles")
        .select(sql<boolean>`abs(-9223372036854775807 - stock) > 0`.as("isLarge"))
        .orderBy("id"),
    );
    await db.insert.all("pen", 0);
    await db.insert.all("ink", 1);

    expect(await absolutes.first()).to.deep.equal({ isLarge: 1 });
    expect(await rejectionOf(absolutes.all())).to.be.instanceOf(DatabaseError);
  });

  it("runs a write to its end, also if the first row is asked for", async () => {
    await using db = await preparedShop();
    const restocked = db.prepared((stock: number) =>
      db.query.updateTable("articles").set({ stock }).returning(["name", "stock"]),
    );
    await db.insert.all("pen", 0);
    await db.insert.all("ink", 1);

    expect(await restocked.first(9)).to.deep.equal({ name: "pen", stock: 9 });
    expect(await db.between.all(9, 9)).to.deep.equal([{ name: "ink" }, { name: "pen" }]);
  });

  it("works in the transaction of the code that runs it", async () => {
    await using db = await preparedShop();
    const failure = new Error("undo");

    const undone = await rejectionOf(
      db.transaction(async () => {
        await db.insert.all("pen", 3);
        expect(await db.named.first("pen")).to.deep.equal({ stock: 3 });
        throw failure;
      }),
    );

    expect(undone).to.equal(failure);
    expect(await db.named.first("pen")).to.equal(undefined);
  });

  it("is compiled once, by way of the plugins, which change each result", async () => {
    let compiled = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        compiled++;
        return node;
      },
      transformResult: ({ result }) =>
        Promise.resolve({ ...result, rows: result.rows.map((row) => ({ ...row, seen: 1 })) }),
    };
    await using db = await preparedShop([new CamelCasePlugin(), counting]);
    await db.insert.all("pen", 3);
    const before = compiled;

    const found = [await db.named.first("pen"), await db.named.first("pen")];

    expect(found).to.deep.equal([
      { stock: 3, seen: 1 },
      { stock: 3, seen: 1 },
    ]);
    expect(compiled).to.equal(before);
  });

  it("refuses values that the driver refuses, as any query", async () => {
    await using db = await preparedShop();

    expect(await rejectionOf(db.named.all({ $ne: 1 } as unknown as string))).to.have.property("code", "E_DB_BIND");
  });

  it("refuses a builder that reads a value, or leaves one out", async () => {
    await using db = await shopDatabase();
    const articles = db.query.selectFrom("articles").selectAll();
    const builders: readonly (() => PreparedQuery<never, unknown>)[] = [
      () => db.prepared((name: string) => articles.where("name", "like", `%${name}%`)),
      () => db.prepared((stock: number) => articles.where("stock", "=", stock + 1)),
      () => db.prepared((stock: number) => (stock > 3 ? articles.where("stock", "=", stock) : articles)),
      () => db.prepared((_stock: number) => articles),
      () => db.prepared((name: string, stock: number) => (stock === 0 ? articles : articles.where("name", "=", name))),
    ];

    for (const build of builders) expect(build, String(build)).to.throw().with.property("code", "E_DB_PREPARED");
  });

  it("refuses a parameter with a default, or of the rest, whose values it would leave out", async () => {
    await using db = await shopDatabase();
    const articles = db.query.selectFrom("articles").selectAll();
    const builders: readonly (() => PreparedQuery<never, unknown>)[] = [
      () => db.prepared((name = "tea") => articles.where("name", "=", name)),
      () => db.prepared((stock: number, name = "tea") => articles.where("stock", "=", stock).where("name", "=", name)),
      () => db.prepared((...names: string[]) => articles.where("name", "in", ["tea", ...names])),
    ];

    for (const build of builders) expect(build, String(build)).to.throw().with.property("code", "E_DB_PREPARED");
  });

  it("takes the values that its parameters name, and ignores more of them", async () => {
    await using db = await preparedShop();

    await db.insert.all("pen", 3);

    const { first } = db.named as { readonly first: (...values: readonly unknown[]) => Promise<unknown> };
    expect(await Promise.all(["pen", "ink"].map((...values) => first(...values)))).to.deep.equal([
      { stock: 3 },
      undefined,
    ]);
  });
});
