/** The driver for SQLite on a file and in memory: locks, waits, types, and files that cannot be used. */
import type { DatabaseError } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { sql } from "../../../../lib/db/kysely.js";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { createStandaloneHost } from "../../../../lib/db/standalone-host.js";
import { Metrics } from "../../../../lib/observe/metrics/metrics.js";
import { inWorkScope } from "../../../../lib/lifecycle/work-scope.js";
import { ShopDatabase, shopDatabase, temporaryFolder } from "../../shop-database.js";
import { errorOf } from "../../../support/error-of.js";
import { Gate } from "../../../support/gate.js";
import { rejectionOf } from "../../../support/rejection-of.js";

/** A busy machine may delay the process by seconds. */
const PATIENT = { waitMs: 60_000 };

/** Holds the write lock of `db` until `release` is called. */
async function lockOf(db: ShopDatabase) {
  const held = new Gate();
  const released = new Gate();
  const done = db.transaction(async () => {
    await db.add("the holder");
    held.open();
    await released.passed;
  });
  await held.passed;
  return async () => {
    released.open();
    await done;
  };
}

/** Reads, and then writes what it read. */
function count(db: ShopDatabase): Promise<void> {
  return db.transaction(async () => {
    const names = await db.names();
    await new Promise((resolve) => setImmediate(resolve));
    await db.add(`article ${names.length}`);
  });
}

/** The settings of the connection of the running code. */
async function settingsOf(db: ShopDatabase): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (const name of ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"])
    values.push(...Object.values((await db.run(`pragma ${name}`))[0] ?? {}));
  return values;
}

async function failedStart(file: string): Promise<DatabaseError> {
  const db = new ShopDatabase(sqlite(file, { waitMs: 50 }));
  // The error of every start that fails in the engine.
  return (await rejectionOf(db.start())) as DatabaseError;
}

describe("SQLite on a file", function () {
  this.timeout(60_000);
  it("makes the folder and the file, and keeps the rows", async () => {
    await using folder = await temporaryFolder();
    const driver = () => sqlite(folder.file("data/deep/shop.db"));
    {
      await using db = await shopDatabase(driver());
      await db.add("tea");
    }
    await using again = new ShopDatabase(driver());
    await again.start();

    expect(await again.names()).to.deep.equal(["tea"]);
    expect((await stat(folder.file("data/deep/shop.db"))).size).to.be.above(0);
  });

  it("reads while a transaction writes, and sees only committed rows", async () => {
    await using folder = await temporaryFolder();
    await using db = await shopDatabase(sqlite(folder.file("shop.db")));
    const release = await lockOf(db);

    expect(await db.names()).to.deep.equal([]);
    await release();
    expect(await db.names()).to.deep.equal(["the holder"]);
  });

  it("reads one state in a read-only transaction", async () => {
    await using folder = await temporaryFolder();
    await using db = await shopDatabase(sqlite(folder.file("shop.db")));
    await using other = new ShopDatabase(sqlite(folder.file("shop.db")));
    await other.start();

    const seen = await db.transaction(
      async () => {
        const before = await db.names();
        await other.add("tea");
        return [before, await db.names()];
      },
      { readOnly: true },
    );

    expect(seen).to.deep.equal([[], []]);
    expect(await db.names()).to.deep.equal(["tea"]);
  });

  it("waits for the lock of another process without stopping this one", async () => {
    await using folder = await temporaryFolder();
    await using holder = await shopDatabase(sqlite(folder.file("shop.db")));
    await using db = new ShopDatabase(sqlite(folder.file("shop.db"), PATIENT));
    await db.start();
    const release = await lockOf(holder);
    const ended: string[] = [];

    const written = db.add("tea").then(() => ended.push("tea"));
    const begun = db.transaction(() => db.add("milk")).then(() => ended.push("milk"));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    const endedBefore = ended.slice();
    await release();
    await Promise.all([written, begun]);

    expect(endedBefore).to.deep.equal([]);
    expect(await db.names()).to.have.members(["the holder", "tea", "milk"]);
  });

  it("stops waiting for a lock at the time limit, and the connection commits afterwards", async () => {
    await using folder = await temporaryFolder();
    await using holder = await shopDatabase(sqlite(folder.file("shop.db")));
    const clock = new FakeClock();
    await using db = new ShopDatabase(sqlite(folder.file("shop.db")));
    db.prepare({ ...createStandaloneHost("shop"), clock });
    await db.start();
    const release = await lockOf(holder);

    const begun = rejectionOf(db.transaction(() => db.add("tea")));
    await clock.advanceAsync(5_100);

    expect(await begun).to.include({ code: "E_DB_BUSY", status: 503 });
    await release();
    await db.transaction(() => db.add("milk"));
    expect(await db.names()).to.deep.equal(["the holder", "milk"]);
  });

  it("ends the wait for a lock with the request", async () => {
    await using folder = await temporaryFolder();
    await using holder = await shopDatabase(sqlite(folder.file("shop.db")));
    await using db = new ShopDatabase(sqlite(folder.file("shop.db")));
    await db.start();
    const release = await lockOf(holder);
    const request = new AbortController();
    const reason = new Error("the client left");

    const written = inWorkScope({ signal: request.signal }, () => rejectionOf(db.add("tea")), undefined);
    request.abort(reason);

    expect(await written).to.equal(reason);
    await release();
  });

  it("takes the write lock at the start of a transaction, so that one that reads first can still write", async () => {
    await using folder = await temporaryFolder();
    await using one = await shopDatabase(sqlite(folder.file("shop.db"), PATIENT));
    await using two = new ShopDatabase(sqlite(folder.file("shop.db"), PATIENT));
    await two.start();
    await Promise.all([count(one), count(two), count(one), count(two)]);

    expect(await one.names()).to.deep.equal(["article 0", "article 1", "article 2", "article 3"]);
  });
});

describe("the wait for a connection", () => {
  it("is bounded in time", async () => {
    const clock = new FakeClock();
    await using db = new ShopDatabase(sqlite(":memory:", { waitMs: 700 }));
    db.prepare({ ...createStandaloneHost("shop"), clock });
    await db.start();
    await sql`create table articles (id integer primary key, name text, stock integer)`.execute(db.query);
    const release = await lockOf(db);

    const written = rejectionOf(db.add("tea"));
    await clock.advanceAsync(700);

    expect(await written).to.include({ code: "E_DB_OVERLOADED", status: 503 });
    await release();
  });

  it("is shown by the gauges of a pool", async () => {
    const metrics = new Metrics();
    const clock = new FakeClock();
    await using folder = await temporaryFolder();
    await using db = new ShopDatabase(sqlite(folder.file("shop.db")));
    db.prepare({ name: "shop", clock, metrics });
    await db.start();
    await sql`create table articles (id integer primary key, name text, stock integer)`.execute(db.query);
    const release = await lockOf(db);
    await db.names();
    const waiting = db.add("tea");
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(250);

    const text = metrics.render();
    await release();
    await waiting;
    clock.advance(250);
    const later = metrics.render();

    expect(text).to.include('framework_db_pool_connections{state="in_use",subsystem="shop"} 1');
    expect(text).to.include('framework_db_pool_connections{state="idle",subsystem="shop"} 1');
    expect(text).to.include('framework_db_pool_waiting{subsystem="shop"} 1');
    expect(later).to.include('framework_db_pool_connections{state="in_use",subsystem="shop"} 0');
  });

  it("is bounded in the number of callers", async () => {
    await using db = await shopDatabase(sqlite(":memory:", { maxWaiting: 1 }));
    const release = await lockOf(db);

    const first = db.add("tea");
    const second = await rejectionOf(db.add("milk"));
    await release();
    await first;

    expect(second).to.include({ code: "E_DB_OVERLOADED" });
    expect(second.message).to.contain("1 callers wait already");
  });

  it("ends with the request", async () => {
    await using db = await shopDatabase();
    const release = await lockOf(db);
    const request = new AbortController();
    const reason = new Error("the client left");

    const written = inWorkScope({ signal: request.signal }, () => rejectionOf(db.add("tea")), undefined);
    request.abort(reason);

    expect(await written).to.equal(reason);
    await release();
    await db.add("milk");
  });
});

describe("values of SQLite", () => {
  it("keep numbers, texts, bytes and null; a boolean is 1 or 0, and a date its text", async () => {
    await using db = await shopDatabase();
    const date = new Date(Date.UTC(2026, 0, 2));

    const { rows } =
      await sql`select ${1.5} a, ${"x"} b, ${Buffer.from("y")} c, ${null} d, ${true} e, ${date} f`.execute(db.query);

    expect(rows).to.deep.equal([
      { a: 1.5, b: "x", c: new Uint8Array([121]), d: null, e: 1, f: "2026-01-02T00:00:00.000Z" },
    ]);
  });

  it("are never rounded: an integer above 2^53 is an error without the number, or a bigint", async () => {
    await using db = await shopDatabase();
    await using exact = await shopDatabase(sqlite(":memory:", { integers: "bigint" }));
    const large = sql<{ n: bigint }>`select 9007199254740992 + 1 n`;

    const error = await rejectionOf(large.execute(db.query));

    expect(error.message).to.contain('{ integers: "bigint" }').and.not.to.contain("9007199254740993");
    expect((await large.execute(exact.query)).rows).to.deep.equal([{ n: 9007199254740993n }]);
  });

  it("come with the number of rows and the new key of a write", async () => {
    await using db = await shopDatabase();

    const inserted = await db.query.insertInto("articles").values({ name: "tea", stock: 1 }).executeTakeFirst();
    const updated = await db.query.updateTable("articles").set({ stock: 2 }).executeTakeFirst();
    const deleted = await db.query.deleteFrom("articles").returning("name").execute();

    expect([inserted.insertId, updated.numUpdatedRows, deleted]).to.deep.equal([1n, 1n, [{ name: "tea" }]]);
  });

  it("follow a change of the schema", async () => {
    await using db = await shopDatabase();
    await db.add("tea");
    const all = () => sql`select * from articles`.execute(db.query);
    await all();

    await sql`alter table articles rename column stock to amount`.execute(db.query);
    await sql`alter table articles add column color text`.execute(db.query);

    expect((await all()).rows).to.deep.equal([{ id: 1, name: "tea", amount: 1, color: null }]);
  });

  it("stand under the names of the table also where another process has changed it", async () => {
    await using folder = await temporaryFolder();
    await using db = await shopDatabase(sqlite(folder.file("shop.db")));
    // It has a separate cache, as another process has.
    await using other = new ShopDatabase(sqlite(folder.file("shop.db")));
    await other.start();
    await db.add("tea", 7);
    const articles = db.query.selectFrom("articles").selectAll();
    const prepared = db.prepared(() => articles);
    const rows = async () => [
      ...(await articles.execute()),
      await articles.executeTakeFirst(),
      ...(await prepared.all()),
      ...(await db.transaction(() => articles.execute())),
      ...(await sql`update articles set id = 1 returning *`.execute(db.query)).rows,
    ];
    await rows();

    await other.run("alter table articles add column color text default 'red'");
    await other.run("alter table articles drop column stock");
    // The version of the schema is used for a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 5));

    expect(await rows()).to.deep.equal(Array.from({ length: 5 }, () => ({ id: 1, name: "tea", color: "red" })));
  });

  it("stand under the names of the table also where a change of it is rolled back, whole or in part", async () => {
    await using db = await shopDatabase();
    await db.add("tea", 7);
    const rows = () => db.run("select * from articles");
    const renamed = async () => {
      await db.run("alter table articles rename column stock to amount");
      expect(await rows()).to.deep.equal([{ id: 1, name: "tea", amount: 7 }]);
      throw new Error("no");
    };

    await rejectionOf(db.transaction(renamed));
    const afterRollback = await rows();
    const inTransaction = await db.transaction(async () => {
      await rejectionOf(db.transaction(renamed));
      return rows();
    });

    expect([afterRollback, inTransaction]).to.deep.equal(
      Array.from({ length: 2 }, () => [{ id: 1, name: "tea", stock: 7 }]),
    );
  });
});

describe("one call of SQLite", () => {
  it("runs one statement: a second one is refused, not dropped", async () => {
    await using db = await shopDatabase();

    const error = await rejectionOf(sql`select 1; drop table articles`.execute(db.query));
    await sql`select ';' as text; -- the end;`.execute(db.query);

    expect(error).to.include({ code: "E_DB_SEVERAL_STATEMENTS" });
  });

  it("may start with comments", async () => {
    await using db = await shopDatabase();
    const update = sql`-- all of them
      /* more than
      before */ update articles set stock = stock + 1`;

    await db.run("-- counts\ncreate trigger counts after insert on articles begin update articles set stock = 7; end");
    await db.add("tea");

    expect(await update.execute(db.query)).to.include({ numAffectedRows: 1n });
    expect(await db.run("select stock from articles")).to.deep.equal([{ stock: 8 }]);
  });

  it("fails with the same codes whether it returns rows or not", async () => {
    await using db = await shopDatabase();
    await db.add("tea");
    const insert = db.query.insertInto("articles").returning("id");

    expect(await rejectionOf(insert.values({ name: "tea", stock: 1 }).execute())).to.include({ code: "E_DB_UNIQUE" });
    expect(await rejectionOf(insert.values({ name: "milk", stock: -1 }).execute())).to.include({ code: "E_DB_CHECK" });
  });

  it("that returns rows waits for the lock of another process too", async () => {
    await using folder = await temporaryFolder();
    await using holder = await shopDatabase(sqlite(folder.file("shop.db")));
    await using db = new ShopDatabase(sqlite(folder.file("shop.db"), PATIENT));
    await db.start();
    const release = await lockOf(holder);

    const inserted = db.query.insertInto("articles").values({ name: "tea", stock: 1 }).returning("name").execute();
    await new Promise((resolve) => setTimeout(resolve, 10));
    await release();

    expect(await inserted).to.deep.equal([{ name: "tea" }]);
  });

  it("that cannot be prepared is an error with its SQL", async () => {
    await using db = await shopDatabase();

    const error = await rejectionOf(sql`select ${"canary"} from nowhere`.execute(db.query));

    expect(error.message).to.equal("ShopDatabase: no such table: nowhere (SQLITE_ERROR) in: select ? from nowhere");
  });
});

describe("a file that SQLite cannot use", () => {
  it("is named at the start", async () => {
    await using folder = await temporaryFolder();
    await writeFile(folder.file("text.db"), "this is a text and no database, however long it may be".repeat(40));
    await writeFile(folder.file("occupied"), "");
    await mkdir(folder.file("folder.db"));

    for (const [file, code] of [
      ["text.db", "SQLITE_NOTADB"],
      ["folder.db", "SQLITE_CANTOPEN"],
    ] as const) {
      const error = await failedStart(folder.file(file));
      expect(error).to.include({ code: "E_DB_CONNECTION", engineCode: code });
      expect(error.message).to.contain(folder.file(file));
    }
    expect(await failedStart(folder.file("occupied/shop.db"))).to.include({ code: "E_DB_CONNECTION" });
  });

  it("because it is full, refuses the write and stays usable", async () => {
    await using db = await shopDatabase();
    await sql`pragma max_page_count = 8`.execute(db.query);
    const text = "x".repeat(50_000);

    const error = await rejectionOf(db.transaction(() => db.add(text)));
    await db.add("tea");

    expect(error).to.include({ code: "E_DB_FULL", status: 507 });
    expect(await db.names()).to.deep.equal(["tea"]);
  });
});

describe("the settings of SQLite", () => {
  it("are in force on the connection that writes and on those that read", async () => {
    await using folder = await temporaryFolder();
    for (const [synchronous, level] of [
      [undefined, 1],
      ["full", 2],
    ] as const) {
      await using db = new ShopDatabase(sqlite(folder.file(`${level}.db`), synchronous && { synchronous }));
      await db.start();
      const settings = () => settingsOf(db);

      expect(await db.transaction(settings)).to.deep.equal(["wal", level, 1, 0]);
      expect(await db.transaction(settings, { readOnly: true })).to.deep.equal(["wal", level, 1, 0]);
    }
  });

  it("are refused where they mean nothing", () => {
    expect(errorOf(() => sqlite(""))).to.include({ code: "E_DB_SETTING" });
    expect(errorOf(() => sqlite("a", { readers: 0 }))).to.include({ code: "E_DB_SETTING" });
    expect(errorOf(() => sqlite("a", { waitMs: 2 ** 40 }))).to.include({ code: "E_DB_SETTING" });
    expect(errorOf(() => sqlite("a", { synchronous: "off" as never }))).to.include({ code: "E_DB_SETTING" });
    expect(errorOf(() => sqlite("a", { wal: true } as never))).to.include({ code: "E_OPTION" });
  });
});

describe("the stop of SQLite", () => {
  it("lets a running transaction end, and refuses later work", async () => {
    await using folder = await temporaryFolder();
    const db = await shopDatabase(sqlite(folder.file("shop.db")));
    const release = await lockOf(db);

    const stopped = db.stop();
    await release();
    await stopped;

    expect(await rejectionOf(db.names())).to.include({ status: 503 });
  });

  it("has a probe that succeeds while transactions use the writer", async () => {
    await using folder = await temporaryFolder();
    await using db = await shopDatabase(sqlite(folder.file("shop.db")));
    const release = await lockOf(db);

    await db.probe(AbortSignal.timeout(15_000));
    await release();
  });
});
