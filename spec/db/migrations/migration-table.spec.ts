/** The table of the migrations on a server where a start cannot create it: another process creates it at the same time, or the role may not. */
import { type DatabaseDriver, type Migration, sql } from "@stagecraft/framework/db";
import { expect } from "chai";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../../support/postgres-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { ShopDatabase } from "../shop-database.js";

const ARTICLES: Migration = {
  name: "articles",
  up: (db) => db.schema.createTable("articles").addColumn("name", "varchar(40)").execute(),
};

const LATER: Migration = {
  name: "later",
  up: (db) => db.schema.createTable("later").addColumn("id", "integer").execute(),
};

const withMigrations = (driver: DatabaseDriver, migrate: boolean, migrations = [ARTICLES]): ShopDatabase =>
  new ShopDatabase(driver, { migrations, migrate });

/** A start with a role that may only read succeeds where all migrations are applied, and fails where one is pending. */
async function startsWhereAllIsApplied(
  owner: DatabaseDriver,
  role: () => DatabaseDriver,
  allow: () => Promise<unknown>,
) {
  await using first = withMigrations(owner, true);
  await first.start();
  await allow();
  for (const migrate of [true, false]) {
    await using db = withMigrations(role(), migrate);
    await db.start();
    expect(await db.migrations.status()).to.deep.equal([{ name: "articles", state: "done" }]);
  }
  const refused = withMigrations(role(), true, [ARTICLES, LATER]);
  expect(await rejectionOf(refused.start())).to.include({ code: "E_DB", status: 500 });
}

/** The migrations use their own URL, and the queries of the application do not. */
async function migratesByAnotherLogin(driver: DatabaseDriver, unreachable: DatabaseDriver, user: string) {
  const users: unknown[] = [];
  const signed: Migration = {
    name: "signed",
    up: async (db) => {
      const { rows } = await sql<{ name: string }>`select ${sql.raw(user)} as name`.execute(db);
      users.push(rows[0]?.name);
      await db.schema.createTable("signed").addColumn("id", "integer").execute();
    },
  };
  await using db = withMigrations(driver, true, [signed]);
  await db.start();
  users.push((await db.run(`select ${user} as name`))[0]?.["name"]);
  expect(users.map((each) => String(each).split("@")[0])).to.deep.equal(["owner", "visitor"]);
  expect(await rejectionOf(db.run("create table mine (id integer)"))).to.include({ code: "E_DB" });
  await using lost = withMigrations(unreachable, true, [signed, LATER]);
  const error = await rejectionOf(lost.start());
  expect(error).to.include({ code: "E_DB_CONNECTION" });
  expect(error.message).to.include("127.0.0.1:1").and.to.not.include(POSTGRES_PASSWORD);
}

/** No server listens on port 1. */
const unreachable = (url: string): string => url.replace(/:\d+\//, ":1/");

describe("the table of the migrations on PostgreSQL", () => {
  let server: PostgresServer;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());

  it("may be created by another process at the same moment", async () => {
    await using other = new ShopDatabase(postgres(server.url));
    await other.start();
    await using db = new ShopDatabase(postgres(server.url), { migrations: [ARTICLES] });
    let status: Promise<unknown> | undefined;
    await other.transaction(async () => {
      await other.run(
        "create table framework_migrations (name text, checksum text, state text, position integer, applied_at text)",
      );
      status = db.migrations.status();
      await until(async () => (await server.run("select from pg_locks where not granted")).length > 0);
    });

    expect(await status).to.deep.equal([{ name: "articles", state: "pending" }]);
    await other.run("drop table framework_migrations");
  });

  it("is read by a role that may not create tables", async () => {
    await server.run(`create role reader login password '${POSTGRES_PASSWORD}'`);
    const url = server.url.replace("owner", "reader");

    await startsWhereAllIsApplied(
      postgres(server.url),
      () => postgres(url),
      () => server.run("grant select on all tables in schema public to reader"),
    );
  });

  it("is made over the URL that the migrations have of their own", async () => {
    await server.run(
      `create role visitor login password '${POSTGRES_PASSWORD}'; alter default privileges grant select on tables to visitor`,
    );
    const url = server.url.replace("owner", "visitor");

    await migratesByAnotherLogin(
      postgres({ url, migrationUrl: server.url, transactionPooler: true }),
      postgres({ url, migrationUrl: unreachable(server.url) }),
      "current_user",
    );
  });
});

describe("the table of the migrations on MariaDB", () => {
  before(needs("mariadbd"));

  it("is read by a role that may not create tables", async () => {
    await using server = await MariadbServer.borrow();
    const url = server.url.replace("owner", "reader");

    await startsWhereAllIsApplied(
      mysql(server.url),
      () => mysql(url),
      () => server.run(`create user 'reader' identified by '${MARIADB_PASSWORD}'; grant select on shop.* to 'reader'`),
    );
  });

  it("is made over the URL that the migrations have of their own", async () => {
    await using server = await MariadbServer.borrow();
    await server.run(`create user 'visitor' identified by '${MARIADB_PASSWORD}'; grant select on shop.* to 'visitor'`);
    const url = server.url.replace("owner", "visitor");

    await migratesByAnotherLogin(
      mysql({ url, migrationUrl: server.url }),
      mysql({ url, migrationUrl: unreachable(server.url) }),
      "current_user()",
    );
  });
});
