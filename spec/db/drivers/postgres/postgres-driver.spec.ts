/** The PostgreSQL driver on a real server: results, transactions, types, failures, time limits and prepared statements. */
import { expect } from "chai";
import type { DatabaseDriver, DriverConnection, DriverResult } from "../../../../lib/db/driver.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import type { PostgresOptions } from "../../../../lib/db/drivers/postgres/postgres-options.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

describe("the PostgreSQL driver", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  const drivers: DatabaseDriver[] = [];

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    await server.run("create table items (id int primary key, name varchar(20) unique, stock int check (stock >= 0))");
    await server.run("create table parts (item int not null references items (id) deferrable)");
  });
  beforeEach(() => server.run("truncate items, parts; insert into items values (1, 'pen', 5), (2, 'ink', 7)"));
  afterEach(async () => {
    await Promise.all(drivers.splice(0).map((driver) => driver.stop()));
  });
  after(() => server[Symbol.asyncDispose]());

  function driverWith(options: Omit<PostgresOptions, "url"> = {}): DatabaseDriver {
    const driver = postgres({ url: server.url, ...options });
    drivers.push(driver);
    return driver;
  }

  async function connect(options?: Omit<PostgresOptions, "url">): Promise<DriverConnection> {
    return driverWith(options).connect({ readOnly: false });
  }

  async function query(sql: string, parameters: readonly unknown[] = [], options?: Omit<PostgresOptions, "url">) {
    const connection = await connect(options);
    try {
      return await run(connection, sql, parameters);
    } finally {
      connection.release();
    }
  }

  async function failureOf(sql: string, parameters: readonly unknown[] = [], options?: Omit<PostgresOptions, "url">) {
    return postgres(server.url).failure(await rejectionOf(query(sql, parameters, options)));
  }

  it("returns rows and counts", async () => {
    expect((await query("select name from items where id = $1", [1])).rows).to.deep.equal([{ name: "pen" }]);
    expect(await query("update items set stock = stock + 1")).to.deep.equal({ rows: [], affected: 2n });
    expect((await query("insert into items values (3, 'nib', 1) returning id")).rows).to.deep.equal([{ id: 3 }]);
  });

  it("knows the failure of a full disk of the server", async () => {
    const full = "do $$ begin raise exception 'no space left' using errcode = '53100'; end $$";
    expect(await failureOf(full)).to.include({ kind: "full", code: "53100", text: "the disk of the server is full" });
  });

  it("knows the state of a transaction, also right after a failure", async () => {
    const connection = await connect();
    expect(connection.transactionStatus).to.equal("none");
    await connection.begin({ readOnly: false });
    expect(connection.transactionStatus).to.equal("open");
    await rejectionOf(run(connection, "select * from nothing"));
    expect(connection.transactionStatus).to.equal("failed");
    await connection.rollback();
    expect(connection.transactionStatus).to.equal("none");
    connection.release();
  });

  it("destroys a connection that is released inside a transaction", async () => {
    const driver = driverWith({ pool: { max: 1 } });
    const unfit = await driver.connect({ readOnly: false });
    await unfit.begin({ readOnly: false });
    const [{ pid: before } = {}] = (await run(unfit, "select pg_backend_pid() as pid")).rows;
    unfit.release();

    const next = await driver.connect({ readOnly: false });

    expect(next.transactionStatus).to.equal("none");
    expect((await run(next, "select pg_backend_pid() as pid")).rows[0]).to.not.deep.equal({ pid: before });
    next.release();
  });

  it("begins with isolation and read-only", async () => {
    const connection = await connect();
    await connection.begin({ readOnly: true, isolation: "serializable" });
    const shown = await run(connection, "select current_setting('transaction_isolation') as level");
    const refused = await rejectionOf(run(connection, "delete from parts"));
    await connection.rollback();
    connection.release();

    expect(shown.rows).to.deep.equal([{ level: "serializable" }]);
    expect(postgres(server.url).failure(refused)).to.include({ kind: "readOnly", code: "25006" });
  });

  describe("for values", () => {
    const DAY = new Date("2026-03-29T01:30:00.123Z");
    const READ: readonly (readonly [string, unknown])[] = [
      ["9007199254740991::int8", 9007199254740991],
      ["count(*)", 1],
      ["array[1, null]::int8[]", [1, null]],
      ["1.10::numeric", "1.10"],
      ["1.5::float8", 1.5],
      ["date '2026-03-29'", "2026-03-29"],
      ["array[date '2026-03-29']", ["2026-03-29"]],
      ["timestamp '2026-03-29 01:30:00.123'", DAY],
      ["array[timestamp '2026-03-29 01:30:00.123']", [DAY]],
      ["timestamptz '2026-03-29 03:30:00.123+02'", DAY],
      ["timestamp 'infinity'", Number.POSITIVE_INFINITY],
      [`jsonb '{"a":[1]}'`, { a: [1] }],
      ["'\\x00ff'::bytea", Buffer.from([0, 255])],
      ["null::int8", null],
      ["true", true],
    ];
    for (const [sql, value] of READ)
      it(`reads ${sql}`, async () => {
        expect((await query(`select ${sql} as value`)).rows).to.deep.equal([{ value }]);
      });

    const BOUND: readonly (readonly [string, unknown, unknown])[] = [
      ["timestamptz", DAY, DAY],
      ["timestamp", DAY, DAY],
      ["timestamp", new Date("0044-03-15T12:00:00Z"), new Date("0044-03-15T12:00:00Z")],
      ["int8", 2n ** 40n, 2 ** 40],
      ["text", "'); drop table items; --", "'); drop table items; --"],
      ["int[]", [1, 2], [1, 2]],
      ["jsonb", { a: "b" }, { a: "b" }],
      ["bytea", new Uint8Array([1, 2]), Buffer.from([1, 2])],
      ["text", null, null],
    ];
    for (const [type, bound, value] of BOUND)
      it(`writes and reads a bind of the type ${type}`, async () => {
        expect((await query(`select $1::${type} as value`, [bound])).rows).to.deep.equal([{ value }]);
      });

    it("refuses an integer that a number cannot represent, unless an option sets another type", async () => {
      const sql = "select 9007199254740993::int8 as value";

      expect(await failureOf(sql)).to.include({ kind: "other", code: "INTEGER_RANGE" });
      expect((await query(sql, [], { bigints: "bigint" })).rows).to.deep.equal([{ value: 9007199254740993n }]);
      expect((await query(sql, [], { bigints: "string" })).rows).to.deep.equal([{ value: "9007199254740993" }]);
    });

    for (const bound of [undefined, () => "canary", Symbol("canary")])
      it(`refuses a bind of the type ${typeof bound}`, async () => {
        const error = await rejectionOf(query("select $1::text as value", [1, bound]));

        expect(error).to.include({ code: "E_DB_BIND" });
        expect(error.message).to.contain("bind 2 of a statement").and.not.contain("canary");
      });

    it("does not change the package for other users", async () => {
      expect(await server.run("select 1::int8 as value")).to.deep.equal([{ value: "1" }]);
    });
  });

  describe("for failures", () => {
    const FAILURES: readonly (readonly [string, readonly unknown[], Readonly<Record<string, unknown>>])[] = [
      [
        "insert into items values (9, $1, 1)",
        ["pen"],
        { kind: "unique", code: "23505", constraint: "items_name_key", table: "items" },
      ],
      ["insert into parts values ($1)", [77], { kind: "foreignKey", code: "23503", constraint: "parts_item_fkey" }],
      [
        "insert into items values (9, 'x', $1)",
        [-1],
        { kind: "check", code: "23514", constraint: "items_stock_check" },
      ],
      ["insert into parts values ($1)", [null], { kind: "notNull", code: "23502", table: "parts" }],
      ["select $1::int", ["canary"], { kind: "other", code: "22P02" }],
      ["select $1::text", ["canary\0"], { kind: "text", code: "22021" }],
      ["select $1::jsonb", ['["canary\\u0000"]'], { kind: "text", code: "22P05" }],
      [
        "insert into parts values ($1), ($2)",
        [77],
        { kind: "other", code: "08P01", text: "the statement has more or fewer placeholders than binds" },
      ],
      ["update items set name = $1", ["a name that is too long for it"], { kind: "other", code: "22001" }],
      ["select * from nothing", [], { kind: "other", code: "42P01", text: 'relation "nothing" does not exist' }],
      ["select to_tsquery('simple', $1)", ["canary canary"], { kind: "other", code: "42601", text: undefined }],
      ["select $1::regclass", ["canary"], { kind: "other", code: "42P01", text: undefined }],
      [
        "select missing from items where name = $1",
        ["canary"],
        { code: "42703", text: 'column "missing" does not exist' },
      ],
      ["alter table nothing add n int", [], { code: "42P01", text: 'relation "nothing" does not exist' }],
      ["do $$ begin raise exception 'canary'; end $$", [], { kind: "other", code: "P0001", text: undefined }],
    ];
    for (const [sql, parameters, expected] of FAILURES)
      it(`reads the failure of ${sql}`, async () => {
        const failure = await failureOf(sql, parameters);

        expect(failure).to.include(expected);
        for (const value of ["canary", "a name", "77"]) expect(JSON.stringify(failure)).to.not.include(value);
      });

    it("reads a failure with the columns of its key, and never a value of them", async () => {
      await server.run('create table keyed (a text, "b c" text, unique (a, "b c"))');
      await server.run("create unique index on keyed (lower(a))");
      await server.run("insert into keyed values ('x)=(canary', 'y')");

      const both = await failureOf("insert into keyed values ($1, $2)", ["x)=(canary", "y"]);
      const expression = await failureOf("insert into keyed values ($1, $2)", ["X)=(canary", "z"]);
      const missing = await failureOf("insert into parts values ($1)", [77]);

      expect(both.columns).to.deep.equal(["a", "b c"]);
      expect(expression).to.deep.include({ kind: "unique", columns: [] });
      expect(missing.columns).to.deep.equal(["item"]);
      expect(JSON.stringify([both, expression])).not.to.contain("canary");
    });

    it("reads the failure of a deadlock", async () => {
      const driver = driverWith();
      const [one, two] = [await begun(driver), await begun(driver)];
      await run(one, "update items set stock = 1 where id = 1");
      await run(two, "update items set stock = 1 where id = 2");

      const results = await Promise.allSettled([
        run(one, "update items set stock = 1 where id = 2"),
        run(two, "update items set stock = 1 where id = 1"),
      ]);

      const kinds = results.flatMap((each) => (each.status === "rejected" ? [driver.failure(each.reason).kind] : []));
      expect(kinds).to.deep.equal(["deadlock"]);
      await endAll(one, two);
    });

    it("reads the failure of a transaction whose rows another one has changed", async () => {
      const driver = driverWith();
      const [one, two] = [await begun(driver, "repeatable read"), await begun(driver, "repeatable read")];
      await run(two, "select * from items");
      await run(one, "update items set stock = 0 where id = 1");
      await one.commit();

      const error = await rejectionOf(run(two, "update items set stock = 1 where id = 1"));

      expect(driver.failure(error)).to.include({ kind: "serialization", code: "40001" });
      await endAll(two);
      one.release();
    });

    it("reads the failure of a deferred constraint at the commit, after which no transaction is open", async () => {
      const driver = driverWith();
      const connection = await begun(driver);
      await run(connection, "set constraints all deferred");
      await run(connection, "insert into parts values (99)");

      const error = await rejectionOf(connection.commit());

      expect(driver.failure(error)).to.include({ kind: "foreignKey" });
      expect(connection.transactionStatus).to.equal("none");
      connection.release();
    });
  });

  describe("with time limits", () => {
    it("has the server end a statement that takes too long", async () => {
      const failure = await failureOf("select pg_sleep(5)", [], { statementTimeoutMs: 30 });

      expect(failure).to.include({ kind: "timeout", code: "57014" });
    });

    it("has the server end a wait for a lock", async () => {
      const driver = driverWith({ lockTimeoutMs: 30 });
      const holder = await begun(driver);
      await run(holder, "update items set stock = 1");

      expect(await failureOf("update items set stock = 2", [], { lockTimeoutMs: 30 })).to.include({
        kind: "busy",
        code: "55P03",
      });
      await endAll(holder);
    });

    it("has the server end an idle transaction, whose connection is then replaced", async () => {
      const driver = driverWith({ idleInTransactionTimeoutMs: 30, pool: { max: 1 } });
      const forgotten = await driver.connect({ readOnly: false });
      const [{ pid } = {}] = (await run(forgotten, "select pg_backend_pid() as pid")).rows;
      await forgotten.begin({ readOnly: false });
      const left = () => server.run(`select 1 from pg_stat_activity where pid = ${String(pid)}`);
      await until(async () => (await left()).length === 0);

      const failure = driver.failure(await rejectionOf(run(forgotten, "select 1")));
      forgotten.release();

      expect(failure.kind).to.be.oneOf(["timeout", "connection"]);
      const next = await driver.connect({ readOnly: false });
      expect((await run(next, "select 1 as one")).rows).to.deep.equal([{ one: 1 }]);
      next.release();
    });
  });

  describe("for repeated statements", () => {
    const PREPARED = "select count(*)::int as count from pg_prepared_statements";

    it("prepares a statement that is repeated", async () => {
      const connection = await connect();
      for (let round = 0; round < 3; round++) await run(connection, "select name from items where id = $1", [1]);

      expect((await run(connection, PREPARED)).rows).to.deep.equal([{ count: 1 }]);
      connection.release();
    });

    it("prepares no more than a bounded number of statements", async () => {
      const connection = await connect();
      for (let text = 0; text < 300; text++)
        for (let round = 0; round < 2; round++) await run(connection, `select ${text} as n`);

      expect((await run(connection, PREPARED)).rows).to.deep.equal([{ count: 256 }]);
      connection.release();
    });

    it("prepares no statement behind a pooler that changes connections", async () => {
      const connection = await connect({ transactionPooler: true });
      for (let round = 0; round < 3; round++) await run(connection, "select name from items where id = $1", [1]);

      expect((await run(connection, PREPARED)).rows).to.deep.equal([{ count: 0 }]);
      connection.release();
    });

    it("prepares a statement again after a change of its table", async () => {
      const connection = await connect();
      await server.run("create table changing (a int); insert into changing values (1)");
      for (let round = 0; round < 3; round++) await run(connection, "select * from changing");
      await server.run("alter table changing add b int default 2");

      expect((await run(connection, "select * from changing")).rows).to.deep.equal([{ a: 1, b: 2 }]);
      expect((await run(connection, "select * from changing")).rows).to.deep.equal([{ a: 1, b: 2 }]);
      connection.release();
      await server.run("drop table changing");
    });
  });

  describe("for migrations", () => {
    it("locks migrations, and names the holder of the lock and its start", async () => {
      const driver = driverWith({ applicationName: "shop-web" });
      const lock = await driver.lockMigrations(1000);

      const failure = driver.failure(await rejectionOf(driverWith().lockMigrations(50)));
      await lock.release();
      const next = await driver.lockMigrations(1000);
      await next.release();

      expect(failure.kind).to.equal("busy");
      expect(failure.text).to.match(
        /^the lock of the migrations is held by shop-web at 127\.0\.0\.1 \(process \d+ of the server\) since 20\d\d-.*Z$/,
      );
    });

    it("locks migrations on a connection outside of the limits of the pool", async () => {
      const driver = driverWith({ pool: { max: 1 }, statementTimeoutMs: 20, idleInTransactionTimeoutMs: 20 });
      const held = await driver.connect({ readOnly: false });
      const lock = await driver.lockMigrations(1000);
      const migration = await driver.connect({ readOnly: false, isMigration: true });

      await run(migration, "select pg_sleep(0.1)");

      migration.release();
      await lock.release();
      held.release();
    });
  });
});

async function run(
  connection: DriverConnection,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<DriverResult> {
  return connection.query({ sql, parameters, isRead: false });
}

async function begun(driver: DatabaseDriver, isolation?: "repeatable read"): Promise<DriverConnection> {
  const connection = await driver.connect({ readOnly: false });
  await connection.begin({ readOnly: false, isolation });
  return connection;
}

async function endAll(...connections: readonly DriverConnection[]): Promise<void> {
  for (const connection of connections) {
    await connection.rollback();
    connection.release();
  }
}
