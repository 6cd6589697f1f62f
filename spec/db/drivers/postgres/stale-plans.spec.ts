/** Statements that PostgreSQL has prepared for a table that another process changes, as a migration does beside a running application. */
import { expect } from "chai";
import { Database, DatabaseUnavailableError } from "@stagecraft/framework/db";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";

class ShopDatabase extends Database<object> {}

const TEXTS = ["select * from items", "select * from items where id = 1", "select * from items order by id"];
const TIMES = 3;

describe("a table that changes under prepared statements of PostgreSQL", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let db: ShopDatabase;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await server.run("drop table if exists items; create table items (id int); insert into items values (1)");
    db = new ShopDatabase(postgres({ url: server.url, pool: { max: 1 } }));
    await db.start();
    for (const text of TEXTS) for (let time = 0; time < TIMES; time++) await db.run(text);
    await server.run("alter table items add column name text default 'pen'");
  });
  afterEach(() => db.stop());

  const inTransaction = (retries: number) =>
    db.transaction(
      async ({ attempt }) => {
        const results = [];
        for (const text of TEXTS) results.push(await db.run(text));
        return { attempt, results };
      },
      { retries },
    );
  const changed = TEXTS.map(() => [{ id: 1, name: "pen" }]);

  it("is a conflict, after which a transaction runs again and succeeds", async () => {
    expect(await inTransaction(1)).to.deep.equal({ attempt: 2, results: changed });
  });

  it("fails one transaction of the connection, for any statements of the next ones", async () => {
    const error = await rejectionOf(inTransaction(0));

    expect(error).to.be.instanceOf(DatabaseUnavailableError).and.to.include({ status: 503, engineCode: "0A000" });
    expect(error.message).to.contain("a table of it has changed");
    expect(await inTransaction(0)).to.deep.equal({ attempt: 1, results: changed });
  });

  it("fails no statement outside of a transaction and none of the next transaction", async () => {
    expect(await db.run(TEXTS[0] ?? "")).to.deep.equal(changed[0]);
    expect(await inTransaction(0)).to.deep.equal({ attempt: 1, results: changed });
  });

  it("is a conflict too where a statement of the application has dropped the plans", async () => {
    const text = "select 1 as n";
    for (let time = 0; time < TIMES; time++) await db.run(text);
    await db.run("deallocate all");

    const run = ({ attempt }: { attempt: number }) => db.run(text).then((rows) => [attempt, rows]);
    expect(await db.transaction(run, { retries: 1 })).to.deep.equal([2, [{ n: 1 }]]);
  });
});
