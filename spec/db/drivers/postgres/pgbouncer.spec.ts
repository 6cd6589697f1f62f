/** A database behind PgBouncer in its transaction mode. */
import { Database, json, type Migration } from "@stagecraft/framework/db";
import { expect } from "chai";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PgBouncer } from "../../../support/pgbouncer.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";

class NoteDatabase extends Database<{ notes: { id: number; body: unknown } }> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const NOTES: Migration = {
  name: "notes",
  up: (db) => db.schema.createTable("notes").addColumn("id", "integer").addColumn("body", "jsonb").execute(),
};

describe("PostgreSQL behind PgBouncer", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let pooler: PgBouncer;

  before(needs("postgres", "pgbouncer"));
  before(async () => {
    server = await PostgresServer.borrow();
    pooler = await PgBouncer.start(server);
  });
  after(async () => {
    await pooler[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it("is refused without transactionPooler, and the error names the limit and the option", async () => {
    const error = await rejectionOf(new NoteDatabase(postgres(pooler.url)).start());

    expect(error).to.include({ code: "E_DB_CONNECTION", engineCode: "08P01" });
    expect(error.message)
      .to.contain("statement_timeout")
      .and.contain("transactionPooler: true")
      .and.contain("migrationUrl");
    expect(error.message).to.not.contain(POSTGRES_PASSWORD);
  });

  it("works with transactionPooler, and migrates on a direct connection", async () => {
    const driver = postgres({ url: pooler.url, migrationUrl: server.url, transactionPooler: true });
    await using db = new NoteDatabase(driver, { migrations: [NOTES], migrate: true });
    await db.start();

    const add = (id: number) =>
      db.query
        .insertInto("notes")
        .values({ id, body: json([id]) })
        .execute();
    await Promise.all([1, 2, 3].map((id) => db.transaction(() => add(id))));

    expect(await db.query.selectFrom("notes").selectAll().orderBy("id").execute()).to.deep.equal(
      [1, 2, 3].map((id) => ({ id, body: [id] })),
    );
  });
});
