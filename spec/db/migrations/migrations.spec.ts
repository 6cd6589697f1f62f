/** Migrations: applied once and in order, rolled back, refused when edited or half applied. */
import { Database, type DatabaseOptions, type Migration, readMigrations } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { sql } from "../../../lib/db/kysely.js";
import { mkdir, writeFile } from "node:fs/promises";
import { eventsOf } from "../../support/events-of.js";
import { Gate } from "../../support/gate.js";
import { runProgram } from "../../support/program.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { temporaryFolder } from "../shop-database.js";

class ShopDatabase extends Database<Record<string, Record<string, unknown>>> implements AsyncDisposable {
  async tables(): Promise<readonly string[]> {
    const { rows } = await sql<{ name: string }>`
      select name from sqlite_schema where type = 'table' and name not like 'framework_%' order by name`.execute(
      this.query,
    );
    return rows.map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const table = (name: string): Migration => ({
  name: `create-${name}`,
  up: (db) => db.schema.createTable(name).addColumn("id", "integer").execute(),
  down: (db) => db.schema.dropTable(name).execute(),
});

const code = (name: string): string =>
  `export const up = (db) => db.schema.createTable("${name}").addColumn("id", "integer").execute();`;

async function withoutNetwork(): Promise<never> {
  throw new Error("no network");
}

/** The same database with another list, as the next version of an application has it. */
async function started(file: string, migrations: DatabaseOptions["migrations"] = [], migrate = true) {
  const db = new ShopDatabase(sqlite(file), { migrations, migrate });
  await db.start();
  return db;
}

const NESTED = { code: "E_DB_MIGRATION_NESTED" };

/** Its start applies one migration. */
function withStep(file: string, up: Migration["up"]): ShopDatabase {
  return new ShopDatabase(sqlite(file), { migrations: [{ name: "step", up }], migrate: true });
}

describe("migrations", function () {
  this.timeout(60_000);
  it("are applied at the start, once and in order", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await started(file, [table("a")])).stop();
    await using db = await started(file, [table("a"), [table("b"), table("c")]]);

    expect(await db.tables()).to.deep.equal(["a", "b", "c"]);
    expect(await db.migrations.run()).to.deep.equal([]);
    expect(await db.migrations.status()).to.deep.equal(
      ["create-a", "create-b", "create-c"].map((name) => ({ name, state: "done" })),
    );
  });

  it("that are pending fail a start that may not apply them, and are named", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await started(file, [table("a")])).stop();

    const error = await rejectionOf(started(file, [table("a"), table("b")], false));

    expect(error).to.include({ code: "E_DB_PENDING" });
    expect(error.message).to.contain("lacks 1 migration: create-b");
  });

  it("that are pending end a program with the code, their names and the fix, and no stack", async () => {
    const { code: exitCode, stderr } = await runProgram(`
      const { Application } = load("entries/main.js");
      const { Module } = load("di/module.js");
      const { provide } = load("di/provide.js");
      const { Database } = load("entries/db.js");
      const { sqlite } = load("db/drivers/sqlite/sqlite-driver.js");
      class Shop extends Database {}
      const migrations = [{ name: "create-a", up: async () => {} }];
      class ShopModule {}
      Module({ providers: [provide(Shop).useFactory(() => new Shop(sqlite(":memory:"), { migrations }))] })(ShopModule);
      await Application.create(ShopModule).build().run();
    `);

    expect(exitCode).to.equal(1);
    expect(stderr).to.match(
      /^ {2}E_DB_PENDING database lacks 1 migration: create-a\n {4}at migrations of \w+\n {4}fix: run npx stagecraft migrate/m,
    );
    expect(stderr).not.to.match(/^\s+at .*:\d+:\d+/m);
  });

  it("come from the files of a folder, in the order of their names", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file("steps"));
    await writeFile(folder.file("steps/002-b.mjs"), code("b"));
    await writeFile(folder.file("steps/001-a.mjs"), code("a"));
    await writeFile(folder.file("steps/001-a.d.mts"), "export {};");
    await using db = await started(":memory:", [readMigrations(folder.file("steps"))]);

    expect((await db.migrations.status()).map(({ name }) => name)).to.deep.equal(["001-a", "002-b"]);
    expect(await db.tables()).to.deep.equal(["a", "b"]);
  });

  it("with one name, with an impossible name, or without up are refused", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file("steps"));
    await writeFile(folder.file("steps/001.mjs"), "export const down = () => {};");

    for (const list of [
      [table("a"), table("a")],
      [{ ...table("a"), name: "no name" }],
      [readMigrations(folder.file("steps"))],
      [readMigrations(folder.file("missing"))],
    ])
      expect(await rejectionOf(started(":memory:", list))).to.include({ code: "E_DB_MIGRATION_FILE" });
  });

  it("that fail are rolled back whole, and those before stay", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    const failing: Migration = {
      name: "fail",
      up: async (db) => {
        await db.schema.createTable("half").addColumn("id", "integer").execute();
        await sql`select * from nowhere`.execute(db);
      },
    };

    expect(await rejectionOf(started(file, [table("a"), failing]))).to.include({ code: "E_DB" });
    await using db = await started(file, [table("a")], false);

    expect(await db.tables()).to.deep.equal(["a"]);
  });

  it("outside of a transaction leave a record when they fail half-way, which fails the next start", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    let fails = true;
    const half: Migration = {
      name: "half",
      transaction: false,
      up: async (db) => {
        await db.schema.createTable("half").addColumn("id", "integer").execute();
        if (fails) throw new Error("killed");
      },
    };

    expect((await rejectionOf(started(file, [half]))).message).to.equal("killed");
    fails = false;
    const error = await rejectionOf(started(file, [half]));

    expect(error).to.include({ code: "E_DB_MIGRATION_HALF" });
    expect(error.message).to.contain("the migration half started");
  });

  it("continue in the table of an older version, which did not record the process", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await started(file, [table("a")])).stop();
    const old = await started(file);
    await sql`alter table framework_migrations drop column applied_by`.execute(old.query);
    await old.stop();

    expect(await rejectionOf(started(file, [table("a"), table("b")], false))).to.include({ code: "E_DB_PENDING" });
    await using db = await started(file, [table("a"), table("b")]);

    expect(await db.tables()).to.deep.equal(["a", "b"]);
    const { rows } = await sql<{ by: string | null }>`
      select applied_by as by from framework_migrations order by position`.execute(db.query);
    expect(rows.map(({ by }) => by?.startsWith(`process ${process.pid} on `) ?? by)).to.deep.equal([null, true]);
  });

  it("outside of a transaction that failed before their first change run again", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    let fails = true;
    const early: Migration = {
      name: "early",
      transaction: false,
      up: async (db) => {
        if (fails) throw new Error("no network");
        await db.schema.createTable("done").addColumn("id", "integer").execute();
      },
    };

    await rejectionOf(started(file, [early]));
    fails = false;
    await using db = await started(file, [early]);

    expect(await db.tables()).to.deep.equal(["done"]);
  });

  it("run once when two instances start at once", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    let runs = 0;
    const slow: Migration = {
      name: "slow",
      up: async (db) => {
        runs++;
        await new Promise((resolve) => setTimeout(resolve, 10));
        await db.schema.createTable("slow").addColumn("id", "integer").execute();
      },
    };

    const all = await Promise.all([1, 2, 3].map(() => started(file, [table("a"), slow, table("b")])));

    expect(runs).to.equal(1);
    for (const db of all) await db.stop();
  });

  it("are rolled back in reverse order, and applied again", async () => {
    await using db = await started(":memory:", [table("a"), table("b"), table("c")]);

    expect(await db.migrations.rollback(2)).to.deep.equal(["create-c", "create-b"]);
    expect(await db.tables()).to.deep.equal(["a"]);
    expect(await db.migrations.run()).to.deep.equal(["create-b", "create-c"]);
  });

  it("are rolled back by a whole number only", async () => {
    await using folder = await temporaryFolder();
    await using db = await started(folder.file("shop.db"), [table("a"), table("b")]);

    for (const count of [-1, Number.NaN, 0.5])
      expect(await rejectionOf(db.migrations.rollback(count))).to.include({ code: "E_DB_MIGRATION_COUNT" });

    expect(await db.migrations.rollback(0)).to.deep.equal([]);
    expect(await db.tables()).to.deep.equal(["a", "b"]);
  });

  it("outside of a transaction stay done if a rollback fails before its first change", async () => {
    await using folder = await temporaryFolder();
    const step: Migration = { ...table("a"), transaction: false, down: withoutNetwork };
    await using db = await started(folder.file("shop.db"), [step]);

    expect((await rejectionOf(db.migrations.rollback())).message).to.equal("no network");

    expect(await db.migrations.status()).to.deep.equal([{ name: "create-a", state: "done" }]);
  });

  it("succeed or fail by themselves where the lock is lost meanwhile, with a WARN event", async () => {
    await using folder = await temporaryFolder();
    const driver = sqlite(folder.file("shop.db"));
    driver.lockMigrations = async () => ({ release: () => Promise.reject(new Error("the lock was lost")) });
    let fails = true;
    const up = () => (fails ? Promise.reject(new Error("failed itself")) : Promise.resolve());
    const db = new ShopDatabase(driver, { migrations: [{ name: "step", up }], migrate: true });

    expect((await rejectionOf(db.start())).message).to.equal("failed itself");
    fails = false;
    const events = await eventsOf(() => db.start());

    expect(events.filter((event) => event.includes("lock of the migrations was lost"))).to.have.length(1);
    expect(await db.migrations.status()).to.deep.equal([{ name: "step", state: "done" }]);
    await db.stop();
  });

  it("without down are not rolled back", async () => {
    await using db = await started(":memory:", [
      { name: "one-way", up: (tables) => sql`create table a (id)`.execute(tables) },
    ]);

    expect(await rejectionOf(db.migrations.rollback())).to.include({ code: "E_DB_MIGRATION_DOWN" });
    expect(await db.tables()).to.deep.equal(["a"]);
  });

  for (const migrate of [true, false])
    it(`of a newer version do not fail the start of an older one, with a WARN event, with migrate: ${migrate}`, async () => {
      await using folder = await temporaryFolder();
      const file = folder.file("shop.db");
      await (await started(file, [table("a"), table("b")])).stop();

      const events = await eventsOf(async () => (await started(file, [table("a")], migrate)).stop());

      const unknown = events.filter((event) => event.includes("applied migration is unknown migration=create-b"));
      expect(unknown).to.have.length(1);
    });

  it("are refused in a transaction, which holds the connection, and both calls are named", async () => {
    await using db = await started(":memory:", [table("a")]);
    const nested = db.transaction(() => db.transaction(() => db.migrations.run()));

    const error = await rejectionOf(nested);
    expect(error).to.include({ code: "E_DB_SECOND_CONNECTION" });
    const place = String.raw`\([^()]*migrations\.spec\.[jt]s:\d+:\d+\)`;
    expect(error.message).to.match(
      new RegExp(`this call ${place} needs .* in a transaction ${place}, which holds one`),
    );
  });
});

describe("a migration that calls db.migrations", () => {
  it("of its own database is refused at once, and the error names the call", async () => {
    const errors: Error[] = [];
    await using db: ShopDatabase = withStep(":memory:", async () => {
      for (const call of ["run", "rollback", "status", "throwIfPending"] as const)
        errors.push(await rejectionOf(db.migrations[call]()));
    });
    await db.start();

    expect(errors).to.have.length(4);
    for (const error of errors) {
      expect(error).to.include(NESTED);
      expect(error.message).to.match(/^ShopDatabase: a migration calls .* \([^()]*migrations\.spec\.[jt]s:\d+:\d+\), /);
    }
  });

  it("of its own file by another object is refused, and is rolled back", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    const nested = withStep(file, async (tables) => {
      await table("a").up(tables);
      await started(file, [table("b")]);
    });

    expect(await rejectionOf(nested.start())).to.include(NESTED);
    await using db = await started(file);
    expect(await db.tables()).to.deep.equal([]);
  });

  it("of another database migrates that one, which may not call back", async () => {
    await using outer: ShopDatabase = withStep(":memory:", () => inner.start());
    await using inner: ShopDatabase = withStep(":memory:", async (tables) => {
      expect(await rejectionOf(outer.migrations.run())).to.include(NESTED);
      await table("a").up(tables);
    });
    await outer.start();

    expect(await inner.tables()).to.deep.equal(["a"]);
  });

  it("in work that continues after its end gets a result", async () => {
    const ended = new Gate();
    let late: Promise<readonly string[]> = Promise.resolve([]);
    await using db: ShopDatabase = withStep(":memory:", async () => {
      late = ended.passed.then(() => db.migrations.run());
    });
    await db.start();
    ended.open();

    expect(await late).to.deep.equal([]);
  });
});
