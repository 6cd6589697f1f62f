/** A driver outside of the package: the public API is enough to write one, and all that builds on a database works on it. */
import { emptied, factory, rolledBack, type Migration } from "@stagecraft/framework/db";
import { DatabaseJobs, Jobs } from "@stagecraft/framework/jobs";
import { DatabaseSessionStore, sessionMigrations } from "@stagecraft/framework/session/db";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysDatabase, obeysQueue, obeysSessionStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { jobsDatabase, makeTables, passSlowly } from "../jobs/jobs-database.js";
import { Gate } from "../support/gate.js";
import { rejectionOf } from "../support/rejection-of.js";
import { sourcesBelow } from "../support/sources.js";
import { ShopDatabase, temporaryFolder } from "./shop-database.js";
import { toy } from "./toy-driver.js";

const SHOP: Migration = {
  name: "shop",
  up: async (db) => {
    await db.schema
      .createTable("articles")
      .addColumn("id", "integer", (id) => id.primaryKey())
      .addColumn("name", "text", (name) => name.notNull().unique())
      .addColumn("stock", "integer", (stock) => stock.notNull())
      .execute();
  },
};

async function started(file: string, options?: Parameters<typeof toy>[1]): Promise<ShopDatabase> {
  const migrations = [SHOP, ...sessionMigrations];
  const db = new ShopDatabase(toy(file, options), { migrations, migrate: true });
  await db.start();
  return db;
}

describe("a driver outside of the package", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let db: ShopDatabase;

  beforeEach(async () => {
    folder = await temporaryFolder();
    db = await started(folder.file("toy.db"));
  });

  afterEach(async () => {
    await db.stop();
    await folder[Symbol.asyncDispose]();
  });

  it("imports entry points of the package and its engine alone", () => {
    const [driver] = sourcesBelow("spec/db").filter(({ path }) => path === "spec/db/toy-driver.ts");

    expect(driver?.imports.map(({ from }) => from)).to.deep.equal([
      "@photostructure/sqlite",
      "@stagecraft/framework",
      "@stagecraft/framework/db",
    ]);
  });

  it("obeys the contract of a database", async () => {
    await obeysDatabase(db);
  });

  it("breaks the contract of a database with a lock that excludes no other, or without the failure of a wait", async () => {
    const { driver } = db;
    const lock = driver.lockMigrations.bind(driver);
    const broken = [
      async () => ({ release: async () => {} }),
      (waitMs: number) => lock(waitMs).catch(() => Promise.reject(new Error("no lock"))),
    ];
    for (const lockMigrations of broken) {
      driver.lockMigrations = lockMigrations;
      expect((await rejectionOf(obeysDatabase(db))).message).to.contain(
        "two locks of the migrations exclude each other",
      );
    }
  });

  it("keeps the sessions of an application", async () => {
    await obeysSessionStore(new DatabaseSessionStore(db));
  });

  it("keeps the jobs of an application", async () => {
    const clock = new FakeClock();
    await using queue = await jobsDatabase(toy(folder.file("jobs.db")), clock);
    await makeTables(queue);
    const store = new DatabaseJobs(queue);
    store.prepare({ clock });

    await obeysQueue((options) => new Jobs({ ...options, store }), {
      clock,
      store,
      pass: (ms) => passSlowly(clock, ms),
    });
  });

  it("is left as it was by a test, whose failures do not end it", async () => {
    const articles = factory(db, "articles", (n) => ({ name: `article ${n}`, stock: n }));
    {
      await using undo = await rolledBack(db);
      void undo;
      const article = await articles.create();
      expect(article).to.deep.equal({ id: 1, name: "article 1", stock: 1 });
      expect(await rejectionOf(db.add(article.name))).to.include({ code: "E_DB_UNIQUE" });
      await db.add("tea");
      expect(await db.names()).to.deep.equal(["article 1", "tea"]);
    }

    expect(await db.names()).to.deep.equal([]);
  });

  it("loses all rows by emptied", async () => {
    await db.add("tea");

    await emptied(db);

    expect(await db.names()).to.deep.equal([]);
    expect(await db.migrations.run()).to.deep.equal([]);
  });

  it("refuses the callers that its pool has no place for", async () => {
    await using narrow = await started(folder.file("narrow.db"), { maxWaiting: 0 });

    const [begun, goesOn] = [new Gate(), new Gate()];
    const transaction = narrow.transaction(async () => {
      begun.open();
      await goesOn.passed;
    });
    await begun.passed;

    expect(await rejectionOf(narrow.names())).to.include({ code: "E_DB_OVERLOADED", status: 503 });

    goesOn.open();
    await transaction;
  });
});
