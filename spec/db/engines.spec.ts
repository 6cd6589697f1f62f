/** PostgreSQL and MariaDB behind a `Database`: the contract, migrations of several instances, and tests that are rolled back. */
import {
  after as rowsAfter,
  Database,
  type DatabaseDriver,
  emptied,
  type Migration,
  rolledBack,
} from "@stagecraft/framework/db";
import { obeysDatabase } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import type { PoolOptions } from "../../lib/db/pool/pool-options.js";
import { Gate } from "../support/gate.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { ShopDatabase } from "./shop-database.js";

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<AsyncDisposable & { readonly url: string }>;
  readonly driver: (url: string, pool?: PoolOptions) => DatabaseDriver;
  /** The type of a time with microseconds. */
  readonly time: string;
}

/** On a busy machine the last of many callers waits long for a connection. */
const PATIENT: PoolOptions = { waitMs: 60_000, connectMs: 60_000 };

const ENGINES: readonly Engine[] = [
  {
    name: "PostgreSQL",
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (url, pool = {}) => postgres({ url, pool: { ...PATIENT, ...pool } }),
    time: "timestamptz",
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: (url, pool = {}) => mysql({ url, pool: { ...PATIENT, ...pool } }),
    time: "datetime(6)",
  },
];

const TABLES: Migration = {
  name: "shop",
  up: async (db) => {
    await db.schema
      .createTable("articles")
      .addColumn("id", "integer", (id) => id.primaryKey())
      .addColumn("name", "varchar(40)", (name) => name.notNull().unique())
      .addColumn("stock", "integer", (stock) => stock.notNull())
      .execute();
  },
  down: (db) => db.schema.dropTable("articles").execute(),
};

class TickDatabase extends Database<{
  readonly ticks: { readonly id: number; readonly at: Date; readonly good: boolean };
}> {}

function add(db: ShopDatabase, id: number, name: string) {
  return db.query.insertInto("articles").values({ id, name, stock: 1 }).execute();
}

for (const { name, program, start, driver, time } of ENGINES) {
  describe(`a database on ${name}`, function () {
    this.timeout(60_000);
    let server: AsyncDisposable & { readonly url: string };

    before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server[Symbol.asyncDispose]());

    const started = async (migrations: readonly Migration[] = [TABLES]) => {
      const db = new ShopDatabase(driver(server.url), { migrations, migrate: true });
      await db.start();
      return db;
    };

    it("obeys the contract", async () => {
      await using db = await started();

      await obeysDatabase(db);
    });

    it("is migrated once by instances that start at once, and back", async () => {
      let runs = 0;
      const counted: Migration = {
        name: "counted",
        up: async (db) => {
          runs++;
          await db.schema.createTable("counted").addColumn("id", "integer").execute();
        },
        down: (db) => db.schema.dropTable("counted").execute(),
      };

      const all = await Promise.all([1, 2, 3].map(() => started([TABLES, counted])));

      expect(runs).to.equal(1);
      expect(await all[0]?.migrations.rollback()).to.deep.equal(["counted"]);
      for (const db of all) await db.stop();
    });

    it("refuses to be migrated by one of its own migrations, and keeps nothing of it", async () => {
      const nested: Migration = { name: "nested", up: () => started([TABLES]) };

      expect(await rejectionOf(started([TABLES, nested]))).to.include({ code: "E_DB_MIGRATION_NESTED" });
      await using db = new ShopDatabase(driver(server.url), { migrations: [TABLES, nested] });
      expect(await db.migrations.status()).to.deep.equal([
        { name: "shop", state: "done" },
        { name: "nested", state: "pending" },
      ]);
    });

    it("is left as it was by a test, after an expected failure too", async () => {
      await using db = await started();
      {
        await using undo = await rolledBack(db);
        void undo;
        await add(db, 1, "tea");
        expect(await rejectionOf(add(db, 2, "tea"))).to.include({ code: "E_DB_UNIQUE" });
        await db.transaction(() => add(db, 3, "milk"));
        expect(await db.names()).to.deep.equal(["tea", "milk"]);
      }

      expect(await db.names()).to.deep.equal([]);
    });

    it("gives each row once in pages by times of the same millisecond and by booleans", async () => {
      const db = new TickDatabase(driver(server.url));
      await db.run(`create table ticks (id integer primary key, at ${time} not null, good boolean not null)`);
      const times = [100, 101, 199, 200, 200, 999].map((micros) => `'2026-01-02 03:04:05.000${micros}'`);
      const values = times.map((at, id) => `(${id}, ${at}, ${id % 2 === 0})`);
      await db.run(`insert into ticks values ${values.join(", ")}`);
      const ticks = db.query.selectFrom("ticks").selectAll();

      for (const direction of ["asc", "desc"] as const)
        for (const size of [1, 2, 5]) {
          const by = [
            ["good", direction],
            ["at", direction],
            ["id", direction],
          ] as const;
          const seen: unknown[] = [];
          let cursor: string | undefined;
          do {
            const page = await rowsAfter(ticks, { by, size, cursor });
            seen.push(...page.rows);
            cursor = page.next;
          } while (cursor !== undefined && seen.length <= times.length);
          const expected = ticks.orderBy("good", direction).orderBy("at", direction).orderBy("id", direction);
          expect(seen).to.deep.equal(await expected.execute());
        }
      await db.stop();
    });

    it("refuses a cursor with a value of another type with 400, or converts the value", async () => {
      await using db = await started();
      await add(db, 1, "tea");
      const cursor = Buffer.from('["canary"]').toString("base64url");
      const articles = db.query.selectFrom("articles").select("id");

      const outcome = await rowsAfter(articles, { by: [["id", "asc"]], size: 1, cursor }).then(
        ({ rows }) => rows,
        (error: unknown) => error,
      );

      // MariaDB reads the text as 0.
      if (time === "timestamptz") expect(outcome).to.include({ code: "E_DB_CURSOR", status: 400 });
      else expect(outcome).to.deep.equal([{ id: 1 }]);
      await emptied(db);
    });

    it("serves nested transactions, statements at once and other callers with one connection", async () => {
      await using setup = await started();
      await using db = new ShopDatabase(driver(server.url, { max: 1 }));
      const row = (id: number) => add(db, id, `article ${id}`);
      const both = (id: number) =>
        db.transaction(async () => {
          await Promise.all([row(id), row(id + 1), db.transaction(() => Promise.all([row(id + 2), row(id + 3)]))]);
          await db.transaction(() => db.transaction(() => row(id + 4)));
          await rejectionOf(db.transaction(() => row(id)));
        });

      const starts = [0, 10, 20, 30, 40, 50];
      await Promise.all(starts.flatMap((id) => [both(id), row(id + 5), db.names()]));

      expect(await db.names()).to.have.length(starts.length * 6);
      await emptied(setup);
    });

    it("stops when its transactions have ended, and starts no other meanwhile", async () => {
      await using setup = await started();
      const db = new ShopDatabase(driver(server.url));
      const [begun, goesOn] = [new Gate(), new Gate()];
      const transaction = db.transaction(async () => {
        await add(db, 1, "tea");
        begun.open();
        await goesOn.passed;
        await db.transaction(() => add(db, 2, "milk"));
      });
      await begun.passed;

      const stopped = db.stop();
      const late = [db.transaction(() => add(db, 3, "late")), add(db, 4, "late too")].map(rejectionOf);
      for (const error of late) expect(await error).to.include({ code: "E_DB_CONNECTION", status: 503 });
      goesOn.open();
      await transaction;
      await stopped;

      expect(await setup.names()).to.deep.equal(["tea", "milk"]);
      await emptied(setup);
    });

    it("loses all rows by emptied", async () => {
      await using db = await started();
      await add(db, 1, "tea");

      await emptied(db);

      expect(await db.names()).to.deep.equal([]);
      expect(await db.migrations.run()).to.deep.equal([]);
    });
  });
}
