/** Statements that a real PostgreSQL has prepared: their columns are described once, and are right after any change of the table. */
import { inspect } from "node:util";
import { expect } from "chai";
import { Connection } from "pg";
import type { DriverConnection } from "../../../../lib/db/driver.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";

const TIMES = 6;

describe("a prepared statement of PostgreSQL", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let driver: ReturnType<typeof postgres>;
  let connection: DriverConnection;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await server.run(
      "drop table if exists items; create table items (id int, name text); insert into items values (1, 'pen')",
    );
    driver = postgres({ url: server.url, pool: { max: 1 } });
    connection = await driver.connect({ readOnly: false });
  });
  afterEach(async () => {
    connection.release();
    await driver.stop();
  });

  const rows = async (sql: string, parameters: readonly unknown[] = []) =>
    (await connection.query({ sql, parameters, isRead: true })).rows;

  it("is described only at its first execution", async () => {
    const prototype = Connection.prototype as { describe: (...message: unknown[]) => void };
    const original = prototype.describe;
    let described = 0;
    prototype.describe = function describe(...message) {
      described++;
      original.apply(this, message);
    };
    try {
      for (let time = 0; time < TIMES; time++)
        expect(await rows("select id, name from items where id = $1", [1])).to.deep.equal([{ id: 1, name: "pen" }]);
    } finally {
      prototype.describe = original;
    }

    // Without a name, and then with one.
    expect(described).to.equal(2);
  });

  for (const { type, value, expected = value } of [
    { type: "int", value: 7 },
    { type: "int", value: -0, expected: 0 },
    { type: "float8", value: 0.1 },
    { type: "float8", value: Number.NaN },
    { type: "bigint", value: 9_007_199_254_740_991n, expected: 9_007_199_254_740_991 },
    { type: "bool", value: true },
    { type: "bool", value: false },
    { type: "text", value: "ö 🖋 \\ ' \n" },
    { type: "text", value: "" },
    { type: "text", value: null },
    { type: "text[]", value: ["a", null, 'b"c'] },
    { type: "jsonb", value: { a: [1, null] } },
    { type: "bytea", value: Buffer.from([0, 1, 255]) },
    { type: "timestamptz", value: new Date("2026-11-23T10:00:00.123Z") },
  ])
    it(`takes and returns ${type} ${inspect(value)} at every execution`, async () => {
      for (let time = 0; time < TIMES; time++)
        expect(await rows(`select $1::${type} as value`, [value])).to.deep.equal([{ value: expected }]);
    });

  it("has separate results at each execution, also without rows", async () => {
    const results = [];
    for (const id of [1, 2, 1, 2, 1, 2]) results.push(await rows("select * from items where id = $1", [id]));
    expect(results).to.deep.equal([1, 2, 1, 2, 1, 2].map((id) => (id === 1 ? [{ id: 1, name: "pen" }] : [])));

    const insert = { sql: "insert into items values ($1, 'ink')", isRead: false };
    for (let id = 10; id < 10 + TIMES; id++)
      expect(await connection.query({ ...insert, parameters: [id] })).to.deep.equal({ rows: [], affected: 1n });
  });

  for (const { what, change, expected } of [
    { what: "renamed", change: "alter table items rename column name to title", expected: { id: 1, title: "pen" } },
    {
      what: "added",
      change: "alter table items add column price int default 5",
      expected: { id: 1, name: "pen", price: 5 },
    },
    { what: "dropped", change: "alter table items drop column name", expected: { id: 1 } },
    {
      what: "of another type",
      change: "alter table items alter column id type text",
      expected: { id: "1", name: "pen" },
    },
    {
      what: "in another order",
      change: "drop table items; create table items (name text, id int); insert into items values ('pen', 1)",
      expected: { name: "pen", id: 1 },
    },
  ])
    it(`returns the rows with a column that is ${what} since`, async () => {
      for (let time = 0; time < TIMES; time++) await rows("select * from items");
      await server.run(change);

      for (let time = 0; time < TIMES; time++) expect(await rows("select * from items")).to.deep.equal([expected]);
    });

  it("fails where a bind cannot be written, writes nothing, and reads rows afterwards", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const value of [circular, circular, { a: 1 }, circular, { a: 2 }]) {
      const read = rows("select $1::jsonb as value", [value]);
      if (value === circular) expect(driver.failure(await rejectionOf(read))).to.include({ kind: "other" });
      else expect(await read).to.deep.equal([{ value }]);
    }
    const insert = { sql: "insert into items values (9, $1)", parameters: [circular], isRead: false };
    for (let time = 0; time < TIMES; time++) await rejectionOf(Promise.resolve(connection.query(insert)));
    expect(await rows("select * from items where id = 9")).to.deep.equal([]);
  });

  it("is not used for several statements in one text, which run at each execution", async () => {
    for (let time = 0; time < TIMES; time++) {
      const several = `insert into items values (${time}, 'ink'); select count(*)::int as count from items; `;
      expect(await rows("delete from items; insert into items values (2, 'ink')")).to.deep.equal([]);
      expect(await rows(several)).to.deep.equal([{ count: 2 }]);
    }
    expect(await rows("select ';' as text; ")).to.deep.equal([{ text: ";" }]);
  });

  it("fails where the server waits for rows to copy, and the next one succeeds", async () => {
    for (let time = 0; time < TIMES; time++) {
      expect(driver.failure(await rejectionOf(rows("copy items from stdin")))).to.include({ code: "57014" });
      expect(await rows("copy items to stdout")).to.deep.equal([]);
      expect(await rows("select * from items")).to.deep.equal([{ id: 1, name: "pen" }]);
    }
  });

  it("fails at each execution with a row that cannot be read, and reads the next ones", async () => {
    const select = "select $1::bigint as value union all select 1";
    for (let time = 0; time < TIMES; time++) {
      expect(await rows(select, ["2"])).to.deep.equal([{ value: 2 }, { value: 1 }]);
      expect(driver.failure(await rejectionOf(rows(select, ["9007199254740993"])))).to.include({
        code: "INTEGER_RANGE",
      });
    }
  });

  it("reads a row after an execution that failed", async () => {
    const divide = (by: number) => rows("select 10 / $1::int as value", [by]);
    for (const by of [5, 5]) expect(await divide(by)).to.deep.equal([{ value: 2 }]);
    expect(driver.failure(await rejectionOf(divide(0)))).to.include({ code: "22012" });
    expect(driver.failure(await rejectionOf(rows("select 10 / $1::int as value", ["x"])))).to.include({
      code: "22P02",
    });
    for (const by of [5, 2]) expect(await divide(by)).to.deep.equal([{ value: 10 / by }]);
  });
});
