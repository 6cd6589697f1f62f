/** Pages of a query, by number and by cursor. */
import { after, Database, paginate } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { CamelCasePlugin } from "kysely";
import * as fc from "fast-check";
import { rejectionOf } from "../support/rejection-of.js";
import { type ShopDatabase, shopDatabase } from "./shop-database.js";

class LinkDatabase extends Database<{ readonly links: { readonly createdAt: string } }> {}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const articles = (db: ShopDatabase) => db.query.selectFrom("articles").select(["id", "stock"]);

describe("paginate", () => {
  it("returns the rows of a page and the number of all", async () => {
    await using db = await shopDatabase();
    for (const name of ["a", "b", "c"]) await db.add(name);

    const page = await paginate(articles(db).orderBy("id"), { page: 2, size: 2 });

    expect(page).to.deep.equal({ rows: [{ id: 3, stock: 1 }], page: 2, size: 2, total: 3, pages: 2 });
  });

  it("counts the rows of a query that makes one row of several", async () => {
    await using db = await shopDatabase();
    for (const [index, name] of ["a", "b", "c", "d"].entries()) await db.add(name, index % 2);
    const stocks = db.query.selectFrom("articles").select("stock");
    const queries = {
      distinct: stocks.distinct(),
      grouped: stocks.groupBy("stock"),
      "with having": stocks.groupBy("stock").having("stock", ">", 0),
      united: stocks.union(stocks),
      "with a limit of its own": stocks.limit(1).offset(3),
    };

    const totals: Record<string, unknown> = {};
    for (const [name, query] of Object.entries(queries)) {
      const { rows, total, pages } = await paginate(query.orderBy("stock"), { page: 1, size: 10 });
      totals[name] = [rows.length, total, pages];
    }

    expect(totals).to.deep.equal({
      distinct: [2, 2, 1],
      grouped: [2, 2, 1],
      "with having": [1, 1, 1],
      united: [2, 2, 1],
      "with a limit of its own": [4, 4, 1],
    });
  });

  it("refuses a page and a size that no client needs", async () => {
    await using db = await shopDatabase();

    for (const wrong of [
      { page: 0, size: 1 },
      { page: 1.5, size: 1 },
      { page: 1, size: 100_000 },
      { page: NaN, size: 1 },
    ])
      expect(await rejectionOf(paginate(articles(db), wrong))).to.include({ code: "E_DB_PAGE", status: 400 });
  });
});

describe("after", function () {
  this.timeout(60_000);
  it("returns every row once, in the order of several columns, for any size", async () => {
    await using db = await shopDatabase();
    const stocks = [3, 1, 2, 3, 1, 3, 2];
    for (const [index, stock] of stocks.entries()) await db.add(`article ${index}`, stock);
    const by = [
      ["stock", "desc"],
      ["id", "asc"],
    ] as const;
    const expected = await articles(db).orderBy("stock", "desc").orderBy("id").execute();

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), async (size) => {
        const seen: unknown[] = [];
        let cursor: string | undefined;
        do {
          const page = await after(articles(db), { by, size, cursor });
          seen.push(...page.rows);
          cursor = page.next;
        } while (cursor !== undefined);
        expect(seen).to.deep.equal(expected);
      }),
    );
  });

  it("goes on behind an integer that a number cannot hold", async () => {
    await using db = await shopDatabase(sqlite(":memory:", { integers: "bigint" }));
    const ids = [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n];
    for (const id of ids)
      await db.run("insert into articles (id, name, stock) values (?, ?, 1)", [id, `article ${id}`]);

    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await after(articles(db), { by: [["id", "asc"]], size: 1, cursor });
      seen.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined && seen.length <= ids.length);

    expect(seen).to.deep.equal(ids);
  });

  it("returns the columns of the query and no others, also where a plugin renames them", async () => {
    const plugins = [new CamelCasePlugin({ underscoreBeforeDigits: true })];
    const db = new LinkDatabase(sqlite(":memory:"), { plugins });
    await db.start();
    await db.run("create table links (created_at text)");
    await db.run("insert into links values ('2026-01-01'), ('2026-01-02')");
    const links = db.query.selectFrom("links").selectAll();

    const first = await after(links, { by: [["createdAt", "asc"]], size: 1 });
    const second = await after(links, { by: [["createdAt", "asc"]], size: 1, cursor: first.next });

    expect([...first.rows, ...second.rows]).to.deep.equal([{ createdAt: "2026-01-01" }, { createdAt: "2026-01-02" }]);
    await db.stop();
  });

  it("refuses a text that is not a cursor of the list", async () => {
    await using db = await shopDatabase();

    for (const cursor of [
      "",
      "%%",
      encoded({}),
      encoded([]),
      encoded([[1]]),
      encoded([1, 2]),
      encoded([["9223372036854775808"]]),
      "a".repeat(4000),
    ])
      expect(await rejectionOf(after(articles(db), { by: [["id", "asc"]], size: 2, cursor }))).to.include({
        code: "E_DB_CURSOR",
        status: 400,
      });
  });
});
