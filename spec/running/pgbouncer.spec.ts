/** The page "PgBouncer": its file runs before a PostgreSQL, and the application of the page works behind it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Application, provide } from "@stagecraft/framework";
import { Database, type Migration } from "@stagecraft/framework/db";
import { DatabaseJobs, Handles, job, Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { sql } from "kysely";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { guideFile, replacedIn } from "../support/guide-files.js";
import { needs } from "../support/machine.js";
import { PgBouncer } from "../support/pgbouncer.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { firstBlock } from "../support/sources.js";
import { until } from "../support/until.js";

const PAGE = "pgbouncer.md";
const PASSWORD = "sesame-of-the-shop";
/** More than the pool of the page has. */
const WRITES = 100;

class ShopDatabase extends Database<{ notes: { id: number } }> {}

const NOTES: Migration = {
  name: "notes",
  up: (db) => db.schema.createTable("notes").addColumn("id", "integer").execute(),
};

const addNote = job<{ readonly id: number }>("note.add");

/** The limit of a statement, as each migration sees it. */
const seenLimits: string[] = [];
const LIMITS: Migration = {
  name: "limits",
  up: async (db) => {
    const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(db);
    seenLimits.push(...rows.map(({ statement_timeout: limit }) => limit));
  },
};

class Notes {
  readonly ids: number[] = [];

  @Handles(addNote)
  add({ id }: { readonly id: number }) {
    this.ids.push(id);
  }
}

/** The files of the page; ports and places are those of the spec. */
function writeFiles(folder: string, port: number, target: number, mode = "transaction"): string {
  const [file, users] = [join(folder, "pgbouncer.ini"), join(folder, "userlist.txt")];
  const settings = replacedIn(guideFile(PAGE, "/etc/pgbouncer/pgbouncer.ini"), {
    "port=5432": `port=${target}`,
    "listen_port = 6432": `listen_port = ${port}`,
    "/etc/pgbouncer/userlist.txt": users,
    "pool_mode = transaction": `pool_mode = ${mode}`,
  });
  writeFileSync(file, settings);
  writeFileSync(users, `"shop" "${PASSWORD}"\n`, { mode: 0o644 });
  return file;
}

describe("PgBouncer with the file of the page", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(needs("postgres", "pgbouncer"));
  let server: PostgresServer;
  let pooler: PgBouncer;

  // With a role, which a server that others borrow after this file must not have.
  before(async () => {
    server = await PostgresServer.start();
    await server.run(`create role shop login password '${PASSWORD}'; grant all on schema public to shop`);
    await server.run(firstBlock(`docs/guide/${PAGE}`, "sql"));
    pooler = await PgBouncer.start(server, `shop:${PASSWORD}`, writeFiles);
  });

  after(async () => {
    await pooler[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const openDatabase = (
    migrations: readonly Migration[] = [],
    past: { readonly migrationUrl?: string } = { migrationUrl: directUrl() },
  ) => {
    const driver = postgres({ url: pooler.url, ...past, transactionPooler: true, pool: { max: WRITES } });
    return new ShopDatabase(driver, { migrations: [NOTES, ...jobsMigrations, ...migrations], migrate: true });
  };
  const directUrl = () => `postgres://shop:${PASSWORD}@127.0.0.1:${server.port}/shop`;

  it("serves more transactions at once than it has connections, with the limits of the role", async () => {
    const db = openDatabase();
    await db.start();
    try {
      const write = (id: number) => db.transaction(() => db.query.insertInto("notes").values({ id }).execute());
      await Promise.all(Array.from({ length: WRITES }, (_, id) => write(id)));
      const [{ count } = {}] = await server.run("select count(*)::int as count from notes");
      const [{ used } = {}] = await server.run(
        "select count(*)::int as used from pg_stat_activity where usename = 'shop' and application_name <> ''",
      );
      const [{ rolconfig } = {}] = await server.run("select rolconfig from pg_roles where rolname = 'shop'");

      expect(count).to.equal(WRITES);
      expect(used).to.be.within(1, 20);
      expect(rolconfig).to.deep.equal([
        "statement_timeout=30s",
        "lock_timeout=10s",
        "idle_in_transaction_session_timeout=60s",
      ]);
    } finally {
      await db.stop();
    }
  });

  it("has migrations go past it, because the limits of the role would end a long one", async () => {
    const direct = openDatabase([{ ...LIMITS, name: "direct" }]);
    await direct.start();
    await direct.stop();
    const pooled = openDatabase([{ ...LIMITS, name: "pooled" }], {});
    await pooled.start();
    await pooled.stop();

    expect(seenLimits).to.deep.equal(["0", "30s"]);
  });

  it("lets jobs be dispatched and run", async () => {
    const notes = new Notes();
    const database = openDatabase();
    const application = Application.create().provide(
      provide(ShopDatabase).useValue(database),
      provide(Jobs).useFactory(() => new Jobs({ store: new DatabaseJobs(database) })),
      provide(Notes).useValue(notes),
    );
    await using app = await testApp(application);
    const jobs = app.resolve(Jobs);
    await database.transaction(() => jobs.dispatch(addNote, { id: 7 }));
    await until(() => notes.ids.length > 0);

    expect(notes.ids).to.deep.equal([7]);
  });

  const twoStatements = async (mode: string) => {
    await using other = await PgBouncer.start(server, `shop:${PASSWORD}`, (...places) => writeFiles(...places, mode));
    const db = new ShopDatabase(postgres({ url: other.url, transactionPooler: true }));
    await db.start();
    try {
      return await db.transaction(async () => {
        await sql`select 1`.execute(db.query);
        return (await sql<{ two: number }>`select 2 as two`.execute(db.query)).rows;
      });
    } finally {
      await db.stop();
    }
  };

  it("has transactions in the mode of sessions, and none in that of statements", async () => {
    expect(await twoStatements("session")).to.deep.equal([{ two: 2 }]);
    expect(await rejectionOf(twoStatements("statement")))
      .to.be.instanceOf(Error)
      .and.include({ engineCode: "08P01" });
  });
});
