/** The binds of a statement on a real PostgreSQL: a bind that cannot be written is refused before the statement is sent. */
import { expect } from "chai";
import type { DriverConnection } from "../../../../lib/db/driver.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";

const PROCESS = "select pg_backend_pid() as id";
const TIMES = 3;

describe("a bind of PostgreSQL", function () {
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
    await server.run("drop table if exists notes; create table notes (note jsonb)");
    driver = postgres({ url: server.url, pool: { max: 1 } });
    connection = await driver.connect({ readOnly: false });
  });
  afterEach(async () => {
    connection.release();
    await driver.stop();
  });

  const run = async (sql: string, parameters: readonly unknown[] = []) =>
    (await connection.query({ sql, parameters, isRead: false })).rows;

  const circular: Record<string, unknown> = { text: "canary" };
  circular["self"] = circular;
  const throwing = { toJSON: () => JSON.parse("canary") as unknown };
  const deep = Array.from({ length: 20_000 }).reduce<unknown[]>((inner) => [inner], []);

  for (const [what, value] of Object.entries({
    "an object that refers to itself": circular,
    "an object with a bigint": { canary: 1n },
    "an object whose method throws": throwing,
    "an array of an object that refers to itself": [circular],
    "an array that is nested too deeply": deep,
  }))
    it(`cannot be ${what}; the error names its position`, async () => {
      const error = await rejectionOf(run("select $1::text, $2::jsonb", ["text", value]));

      expect(error).to.include({ code: "E_DB_BIND", status: 500 });
      expect(error.message).to.contain("bind 2 of a statement").and.not.contain("canary");
      expect(error.cause).to.equal(undefined);
    });

  it("that cannot be written leaves the transaction, the connection and the statement as they are", async () => {
    const note = (value: unknown) => run("insert into notes values ($1)", [value]);
    const [before] = await run(PROCESS);
    for (let time = 0; time < TIMES; time++) {
      await connection.begin({ readOnly: false });
      await rejectionOf(note(circular));
      expect(connection.transactionStatus).to.equal("open");
      await note({ time });
      await connection.commit();
    }

    expect(await run("select note from notes")).to.deep.equal([0, 1, 2].map((time) => ({ note: { time } })));
    expect((await run(PROCESS))[0]).to.deep.equal(before);
  });

  it("is one of 65535 at most", async () => {
    const most = Array.from({ length: 65_535 }, (_, index) => index);

    expect(await run(countOf(most), most)).to.deep.equal([{ count: most.length }]);
    const error = await rejectionOf(run(countOf([...most, 1]), [...most, 1]));
    expect(error).to.include({ code: "E_DB_BIND" });
    expect(error.message).to.contain("65536 binds");
  });

  it("keeps its moment in UTC where it is a Date in an array, in every zone of the machine", async () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "America/New_York";
    try {
      const moment = new Date("2026-07-23T10:00:00.123Z");
      for (const type of ["timestamp", "timestamptz"])
        expect(
          await run(`select $1::${type} as one, $2::${type}[] as some`, [moment, [[moment], [moment]]]),
        ).to.deep.equal([{ one: moment, some: [[moment], [moment]] }]);
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });
});

function countOf(binds: readonly number[]): string {
  return `select count(*)::int as count from (values ${binds.map((_, at) => `($${at + 1})`).join()}) as v`;
}
