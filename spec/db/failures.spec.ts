/** Failures of an engine: the state of the connection and the transaction afterwards, and the errors of the application. */
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import {
  type DatabaseDialect,
  type DatabaseDriver,
  type DatabaseError,
  postgresDialect,
  UniqueViolationError,
} from "@stagecraft/framework/db";
import { expectNoLeak, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { inspect } from "node:util";
import { sql } from "../../lib/db/kysely.js";
import { errorOf } from "../support/error-of.js";
import { eventsOf } from "../support/events-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { EngineError, ScriptedDriver } from "./scripted-driver.js";
import { ShopDatabase, shopDatabase } from "./shop-database.js";

const failure = new Error("the function failed");

function scripted() {
  const driver = new ScriptedDriver();
  const db = new ShopDatabase(driver);
  const statement = () => sql`select 1`.execute(db.query);
  return { driver, db, statement };
}

describe("a commit whose connection is lost", () => {
  it("has an unknown outcome, is not retried, and drops the work for after the commit", async () => {
    const { driver, db } = scripted();
    driver.failures.set("commit", new EngineError("connection"));
    const seen: string[] = [];

    const error = await rejectionOf(db.transaction(() => db.afterCommit(() => seen.push("ran")), { retries: 5 }));

    expect(error).to.include({ code: "E_DB_UNKNOWN_OUTCOME", status: 500 });
    expect(driver.calls).to.deep.equal(["connect", "begin", "commit", "destroy"]);
    expect(seen).to.deep.equal([]);
  });
});

describe("a commit that the engine refuses", () => {
  it("is rolled back, and retried if it was a conflict", async () => {
    const { driver, db } = scripted();
    driver.failures.set("commit", new EngineError("serialization"));

    await db.transaction(() => 1, { retries: 1 });

    expect(driver.calls.join()).to.equal("connect,begin,commit,rollback,release,connect,begin,commit,release");
  });
});

describe("a conflict of transactions", () => {
  it("is a 503 that asks the client to send the request again, as no other failure is", async () => {
    const { driver, db, statement } = scripted();
    await using app = await testApp(
      Application.create()
        .provide(provide(ShopDatabase).useValue(db))
        .routes(new Routes([Route.post("/", statement)])),
    );
    const seen: (number | string | null)[][] = [];
    for (const kind of ["serialization", "deadlock", "busy", "overloaded", "connection"] as const) {
      driver.failures.set("query", new EngineError(kind));
      const { status, headers } = await app.post("/");
      seen.push([status, headers.get("retry-after")]);
    }

    expect(seen).to.deep.equal([
      [503, "1"],
      [503, "1"],
      [503, "1"],
      [503, null],
      [503, null],
    ]);
  });
});

describe("a rollback that fails", () => {
  it("destroys the connection, and the first error stays", async () => {
    const { driver, db } = scripted();
    driver.failures.set("rollback", new EngineError("connection"));

    const error = await rejectionOf(
      db.transaction(() => {
        throw failure;
      }),
    );

    expect(error).to.equal(failure);
    expect(driver.calls).to.deep.equal(["connect", "begin", "rollback", "destroy"]);
  });
});

describe("a begin that fails", () => {
  it("releases the connection, or destroys it if it is lost", async () => {
    const { driver, db } = scripted();

    driver.failures.set("begin", new EngineError("busy"));
    await rejectionOf(db.transaction(() => 1));
    driver.failures.set("begin", new EngineError("connection"));
    await rejectionOf(db.transaction(() => 1));

    expect(driver.calls).to.deep.equal(["connect", "begin", "release", "connect", "begin", "destroy"]);
  });
});

describe("a statement that fails in a transaction", () => {
  it("ends the transaction where the engine has ended it, so that no later statement runs outside of it", async () => {
    const { driver, db, statement } = scripted();
    driver.statusAfterFailure = "none";
    let later: Error | undefined;

    const error = await rejectionOf(
      db.transaction(async () => {
        driver.failures.set("query", new EngineError("deadlock"));
        await rejectionOf(statement());
        later = await rejectionOf(statement());
      }),
    );

    expect(later).to.include({ code: "E_DB_TRANSACTION_FAILED", status: 503 });
    expect(error).to.include({ code: "E_DB_TRANSACTION_FAILED" });
    expect(driver.calls).to.deep.equal(["connect", "begin", "select 1", "release"]);
  });

  it("lets the whole transaction be retried, although its function hid the conflict", async () => {
    const { driver, db, statement } = scripted();
    driver.statusAfterFailure = "none";
    driver.failures.set("query", new EngineError("deadlock"));

    await db.transaction(() => statement().catch(() => {}), { retries: 1 });

    expect(driver.calls.slice(-4)).to.deep.equal(["begin", "select 1", "commit", "release"]);
  });

  it("fails the commit where the engine accepts no further statement", async () => {
    const { driver, db, statement } = scripted();
    driver.statusAfterFailure = "failed";
    driver.failures.set("query", new EngineError("unique"));

    const error = await rejectionOf(db.transaction(() => statement().catch(() => {})));

    expect(error).to.include({ code: "E_DB_TRANSACTION_FAILED", status: 409 });
    expect(driver.calls).to.deep.equal(["connect", "begin", "select 1", "rollback", "release"]);
  });

  it("is rolled back with its nested transaction, and the outer one continues", async () => {
    const { driver, db, statement } = scripted();
    driver.statusAfterFailure = "failed";

    await db.transaction(async () => {
      await statement();
      await rejectionOf(
        db.transaction(async () => {
          await statement();
          driver.failures.set("query", new EngineError("unique"));
          await statement();
        }),
      );
    });

    expect(driver.calls.join()).to.equal(
      "connect,begin,select 1,savepoint framework_1,select 1,select 1,rollback to savepoint framework_1," +
        "release savepoint framework_1,commit,release",
    );
  });

  it("fails the nested transaction that hid the failure", async () => {
    const { driver, db, statement } = scripted();
    driver.statusAfterFailure = "failed";

    await db.transaction(async () => {
      const nested = db.transaction(async () => {
        await statement();
        driver.failures.set("query", new EngineError("unique"));
        await statement().catch(() => {});
      });
      expect(await rejectionOf(nested)).to.include({ code: "E_DB_TRANSACTION_FAILED" });
    });

    expect(driver.calls.slice(-2)).to.deep.equal(["commit", "release"]);
  });
});

describe("a savepoint that cannot be rolled back", () => {
  it("rolls the whole transaction back", async () => {
    const { driver, db, statement } = scripted();

    const error = await rejectionOf(
      db.transaction(async () => {
        await db
          .transaction(async () => {
            await statement();
            driver.failures.set("query", new EngineError("other"));
            throw failure;
          })
          .catch(() => {});
      }),
    );

    expect(error).to.include({ code: "E_DB_TRANSACTION_FAILED" });
    expect(driver.calls.slice(-2)).to.deep.equal(["rollback", "release"]);
  });
});

describe("a statement outside of a transaction", () => {
  it("releases its connection after a failure, and destroys a lost one", async () => {
    const { driver, statement } = scripted();

    driver.failures.set("query", new EngineError("unique"));
    await rejectionOf(statement());
    driver.failures.set("query", new EngineError("connection"));
    await rejectionOf(statement());

    expect(driver.calls.filter((call) => !call.startsWith("connect"))).to.deep.equal([
      "select 1",
      "release",
      "select 1",
      "destroy",
    ]);
  });
});

describe("an error of a database", () => {
  it("has status and class by its kind, and no part of the engine's message", async () => {
    const { driver, statement } = scripted();
    driver.failures.set("query", new EngineError("unique"));

    const error = await rejectionOf(statement());

    expect(error).to.be.instanceOf(UniqueViolationError);
    expect(error).to.include({ status: 409, code: "E_DB_UNIQUE", kind: "unique" });
    expect(inspect(error, { depth: 10, showHidden: true })).not.to.contain("canary");
  });

  it("names table and columns of SQLite, without values", async () => {
    await using db = await shopDatabase();
    await db.add("canary4711secret");

    const unique = (await rejectionOf(db.add("canary4711secret"))) as DatabaseError;
    const check = (await rejectionOf(db.add("x", -1))) as DatabaseError;
    const foreign = await rejectionOf(
      db.query.insertInto("orders").values({ article: 99, note: "canary4711secret" }).execute(),
    );

    expect(unique).to.include({ table: "articles", engineCode: "SQLITE_CONSTRAINT_UNIQUE" });
    expect(unique.columns).to.deep.equal(["name"]);
    expect(unique.message).to.equal("ShopDatabase: UNIQUE constraint failed: articles.name (SQLITE_CONSTRAINT_UNIQUE)");
    expect(check).to.include({ kind: "check", status: 500 });
    expect(foreign).to.include({ kind: "foreignKey", status: 409 });
    expect(inspect([unique, check, foreign], { depth: 10 })).not.to.contain("canary");
  });

  it("refuses objects, arrays and undefined as binds, without repeating them", async () => {
    await using db = await shopDatabase();
    const insert = (note: unknown) =>
      db.query
        .insertInto("orders")
        .values({ article: 1, note: note as string })
        .execute();

    for (const value of [["canary4711secret"], { id: "canary4711secret" }]) {
      const error = await rejectionOf(insert(value));
      expect(error).to.include({ code: "E_DB_BIND", status: 500 });
      expect(inspect(error)).not.to.contain("canary");
    }
    expect(await rejectionOf(sql`select ${undefined}`.execute(db.query))).to.include({ code: "E_DB_BIND" });
  });

  it("refuses NaN and an invalid Date, which SQLite would store as null or not at all", async () => {
    await using db = await shopDatabase();

    for (const value of [Number.NaN, new Date("not a date")])
      expect(
        await rejectionOf(sql`insert into orders (article, note) values (1, ${value})`.execute(db.query)),
      ).to.include({
        code: "E_DB_BIND",
      });
  });

  it("refuses a text that SQLite would cut off, and matches no other row by it", async () => {
    await using db = await shopDatabase();
    await db.add("canary");

    const found = db.query.selectFrom("articles").selectAll().where("name", "=", "canary\0x").execute();

    const error = await rejectionOf(found);
    expect(error).to.include({ code: "E_DB_TEXT", status: 400 });
    expect(inspect(error)).not.to.contain("canary");
    expect(await rejectionOf(db.transaction(() => db.add("tea\0milk")))).to.include({ code: "E_DB_TEXT" });
    expect(await db.names()).to.deep.equal(["canary"]);
  });

  it("does not widen a condition where a client sends an array", async () => {
    await using db = await shopDatabase();
    await db.add("tea");
    await db.add("milk");
    const id: unknown = JSON.parse("[1, 2]");
    const find = db.query
      .selectFrom("articles")
      .selectAll()
      .where("id", "=", id as number);

    expect(await rejectionOf(find.execute())).to.include({ code: "E_DB" });
  });

  it("is not leaked into logs, spans, metrics and responses", async () => {
    const db = await shopDatabase(undefined, { slowQueryMs: 0 });
    const write = async (ctx: Context) => {
      const note = await ctx.text();
      await db.transaction(() => db.query.insertInto("orders").values({ article: 99, note }).execute());
    };
    const fail = (ctx: Context) => sql`select json_extract('{}', ${ctx.querystring})`.execute(db.query);
    await using app = await testApp(
      Application.create()
        .routes(new Routes([Route.post("/orders", write), Route.get("/fail", fail)]))
        .provide(provide(ShopDatabase).useValue(db))
        .requestId()
        .accessLog()
        .errorMapping(),
    );

    await expectNoLeak(app, "canary4711secret");
    expect(app.logs.lines().join()).to.contain("slow query");
  });
});

describe("a slow query", () => {
  it("is a WARN event with its SQL and no bind", async () => {
    await using db = await shopDatabase(undefined, { slowQueryMs: 0 });

    const events = await eventsOf(() => db.add("canary4711secret"));

    const slow = events.filter((event) => event.includes("slow query"));
    expect(slow).to.have.length(1);
    expect(slow[0]).to.contain('statement=insert into "articles" ("name", "stock") values (?, ?)');
    expect(events.join()).not.to.contain("canary");
  });
});

describe("databases of one application", () => {
  class Ledger extends ShopDatabase {}

  it("must have the same kind of driver", async () => {
    const builder = Application.create().provide(
      provide(ShopDatabase).useValue(new ShopDatabase(new ScriptedDriver())),
      provide(Ledger).useValue(new Ledger((await shopDatabase()).driver)),
    );

    expect(errorOf(() => builder.build()).message).to.contain("E_DB_DRIVERS Ledger is on sqlite");
  });

  it("must each have a driver", () => {
    expect(errorOf(() => new ShopDatabase(undefined as unknown as DatabaseDriver))).to.include({ code: "E_DB_DRIVER" });
  });

  it("may be on a relative of an engine, which counts as another driver than that engine", () => {
    const builder = Application.create().provide(
      provide(ShopDatabase).useValue(new ShopDatabase(new ScriptedDriver())),
      provide(Ledger).useValue(new Ledger(new ScriptedDriver({ ...postgresDialect, name: "cockroach" }))),
    );

    expect(errorOf(() => builder.build()).message).to.contain("E_DB_DRIVERS Ledger is on cockroach");
  });

  it("cannot be on a driver whose SQL the framework does not know", () => {
    for (const [dialect, value] of [
      [{ ...postgresDialect, family: "tsql" }, "tsql"],
      ["postgres", "undefined"],
    ] as const) {
      const driver = new ScriptedDriver(dialect as unknown as DatabaseDialect);

      const error = errorOf(() => new ShopDatabase(driver));

      expect(error).to.include({ code: "E_DB_DIALECT" });
      expect(error.message).to.contain(`is ${value}: use one of sqlite, postgres, mysql`);
    }
  });
});
