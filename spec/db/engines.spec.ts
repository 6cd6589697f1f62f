/** PostgreSQL and MariaDB behind a `Database`: the contract, migrations of several instances, and tests that are undone. */
import { type DatabaseDriver, emptied, type Migration, rolledBack } from "@stagecraft/framework/db";
import { obeysDatabase } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { mysql } from "../../lib/mysql/mysql-driver.js";
import { postgres } from "../../lib/postgres/postgres-driver.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { ShopDatabase } from "./shop-database.js";

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<AsyncDisposable & { readonly url: string }>;
  readonly driver: (url: string) => DatabaseDriver;
}

const ENGINES: readonly Engine[] = [
  {
    name: "PostgreSQL",
    program: "postgres",
    start: () => PostgresServer.start(),
    driver: (url) => postgres({ url }),
  },
  { name: "MariaDB", program: "mariadbd", start: () => MariadbServer.start(), driver: (url) => mysql({ url }) },
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

function add(db: ShopDatabase, id: number, name: string) {
  return db.query.insertInto("articles").values({ id, name, stock: 1 }).execute();
}

for (const { name, program, start, driver } of ENGINES) {
  describe(`a database on ${name}`, () => {
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

    it("is emptied", async () => {
      await using db = await started();
      await add(db, 1, "tea");

      await emptied(db);

      expect(await db.names()).to.deep.equal([]);
      expect(await db.migrations.run()).to.deep.equal([]);
    });
  });
}
