/** A database that refuses writes: reads succeed, a write is 503, and the readiness probe passes. */
import type { DatabaseDriver, Migration } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";
import { withoutPrivileges } from "../support/without-privileges.js";
import { ShopDatabase, temporaryFolder } from "./shop-database.js";

const ARTICLES: Migration = {
  name: "articles",
  up: (db) =>
    db.schema
      .createTable("articles")
      .addColumn("id", "integer")
      .addColumn("name", "varchar(40)")
      .addColumn("stock", "integer")
      .execute(),
};

const LATER: Migration = {
  name: "later",
  up: (db) => db.schema.createTable("later").addColumn("id", "integer").execute(),
};

/** Migrates, makes the database read-only, and starts again. */
async function staysReadable(driver: () => DatabaseDriver, close: () => Promise<unknown>): Promise<void> {
  const first = new ShopDatabase(driver(), { migrations: [ARTICLES], migrate: true });
  await first.start();
  await first.add("tea");
  await first.stop();
  await close();

  for (const migrate of [true, false]) {
    await using db = new ShopDatabase(driver(), { migrations: [ARTICLES], migrate });
    await db.start();

    expect(await db.names()).to.deep.equal(["tea"]);
    await db.probe(AbortSignal.timeout(15_000));
    for (const write of [() => db.add("canary"), () => db.transaction(() => db.add("canary"))]) {
      const error = await rejectionOf(write());
      expect(error).to.include({ code: "E_DB_READ_ONLY", status: 503 });
      expect(error.message).to.not.contain("canary");
    }
    expect(await db.names()).to.deep.equal(["tea"]);
  }
  const db = new ShopDatabase(driver(), { migrations: [ARTICLES, LATER], migrate: true });
  expect(await rejectionOf(db.start())).to.include({ code: "E_DB_READ_ONLY" });
}

describe("a read-only database", function () {
  this.timeout(60_000);
  it("on SQLite is read, and refuses writes", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await chmod(dirname(file), 0o777);

    await withoutPrivileges(() =>
      staysReadable(
        () => sqlite(file),
        () => chmod(file, 0o444),
      ),
    );
  });

  describe("on PostgreSQL", () => {
    before(needs("postgres"));

    it("is read, and refuses writes", async () => {
      await using server = await PostgresServer.borrow();

      await staysReadable(
        () => postgres(server.url),
        () => server.run("alter database shop set default_transaction_read_only = on"),
      );
    });
  });

  describe("on MariaDB", () => {
    let server: MariadbServer;
    let url: string;

    before(needs("mariadbd"));
    before(async () => {
      server = await MariadbServer.start();
      // The owner may write to a read-only server, and has a place in a full one.
      await server.run(`create user 'app' identified by '${MARIADB_PASSWORD}'; grant all on shop.* to 'app'`);
      url = server.url.replace("owner", "app");
    });
    after(() => server[Symbol.asyncDispose]());

    it("is read, refuses writes, and takes them again afterwards on the same connections", async () => {
      await staysReadable(
        () => mysql(url),
        () => server.run("set global read_only = 1"),
      );
      await using db = new ShopDatabase(mysql({ url, pool: { max: 1 } }));
      await db.start();
      await rejectionOf(db.add("milk"));

      await server.run("set global read_only = 0");
      await db.add("milk");

      expect(await db.names()).to.have.lengthOf(2);
    });

    it("that has no place for another connection serves callers with those of the pool, and is 503 without any", async () => {
      const others = mysql({ url, pool: { max: 10 } });
      await using mine = new ShopDatabase(mysql({ url, pool: { max: 5, waitMs: 60_000 } }));
      await mine.start();
      const taken = await Promise.all(Array.from({ length: 9 }, async () => others.connect({ readOnly: false })));
      await server.run("set global max_connections = 10");

      expect(await Promise.all([1, 2, 3].map(() => mine.names()))).to.have.lengthOf(3);
      const late = new ShopDatabase(mysql(url));
      const error = await rejectionOf(late.start());
      expect(error).to.include({ code: "E_DB_OVERLOADED", status: 503 });
      expect(error.message).to.contain("the server has no place for another connection").and.not.contain("canary");

      for (const each of taken) each.release();
      await others.stop();
      // The server counts a closed connection until its thread has ended.
      await until(() =>
        late.start().then(
          () => true,
          () => false,
        ),
      );
      await late.stop();
    });
  });
});
