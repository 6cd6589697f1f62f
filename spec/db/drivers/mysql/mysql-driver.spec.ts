/** The driver for MariaDB and MySQL on a real MariaDB: results, transactions, types, binds, failures and time limits. */
import { expect } from "chai";
import type { DatabaseDriver, DriverConnection, DriverResult } from "../../../../lib/db/driver.js";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { isMariadb, mysqlFailure } from "../../../../lib/db/drivers/mysql/mysql-failure.js";
import type { MysqlOptions } from "../../../../lib/db/drivers/mysql/mysql-options.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

const TABLES = `
  create table items (id int primary key auto_increment, name varchar(20), stock int, unique key by_name (name),
    constraint stock_positive check (stock >= 0)) engine=innodb;
  create table parts (item int not null, constraint part_of_item foreign key (item) references items (id)) engine=innodb;
  create table notes (id int, body json);
  create table words (word varchar(20) character set latin1);
  create table pairs (one varchar(20) character set latin1, other varchar(20) character set latin2)`;

const LACKING = { kind: "text", text: "a text has a character that the character set of a column lacks" };

describe("the MySQL driver", function () {
  this.timeout(60_000);
  let server: MariadbServer;
  const drivers: DatabaseDriver[] = [];

  before(needs("mariadbd"));
  before(async () => {
    server = await MariadbServer.borrow();
    await server.run(TABLES);
  });
  beforeEach(() =>
    server.run(
      "delete from parts; delete from notes; delete from items; insert into items values (1, 'pen', 5), (2, 'ink', 7)",
    ),
  );
  afterEach(async () => {
    await Promise.all(drivers.splice(0).map((driver) => driver.stop()));
  });
  after(() => server[Symbol.asyncDispose]());

  function driverWith(options: Omit<MysqlOptions, "url"> = {}): DatabaseDriver {
    const driver = mysql({ url: server.url, ...options });
    drivers.push(driver);
    return driver;
  }

  async function connect(options?: Omit<MysqlOptions, "url">): Promise<DriverConnection> {
    return driverWith(options).connect({ readOnly: false });
  }

  async function query(sql: string, parameters: readonly unknown[] = [], options?: Omit<MysqlOptions, "url">) {
    const connection = await connect(options);
    try {
      return await run(connection, sql, parameters);
    } finally {
      connection.release();
    }
  }

  async function failureOf(sql: string, parameters: readonly unknown[] = [], options?: Omit<MysqlOptions, "url">) {
    return mysql(server.url).failure(await rejectionOf(query(sql, parameters, options)));
  }

  it("returns rows, counts and the key of a new row", async () => {
    expect((await query("select name from items where id = ?", [1])).rows).to.deep.equal([{ name: "pen" }]);
    expect((await query("select name from items limit ?", [1])).rows).to.have.length(1);
    expect(await query("update items set stock = ? where id < ?", [5, 9])).to.deep.equal({
      rows: [],
      affected: 2n,
      changed: 1n,
    });
    const inserted = await query("insert into items (id, name) values (?, ?)", [41, "nib"]);
    expect(inserted).to.include({ affected: 1n, insertId: 41n });
  });

  it("knows the state of a transaction", async () => {
    const connection = await connect();
    expect(connection.transactionStatus).to.equal("none");
    await connection.begin({ readOnly: false, isolation: "serializable" });
    expect(connection.transactionStatus).to.equal("open");
    await rejectionOf(run(connection, "select * from nothing"));
    expect(connection.transactionStatus).to.equal("open");
    await connection.commit();
    expect(connection.transactionStatus).to.equal("none");
    connection.release();
  });

  it("notices that a change of the schema has committed the transaction", async () => {
    const connection = await connect();
    await connection.begin({ readOnly: false });
    await run(connection, "create or replace table committed (a int)");

    expect(connection.transactionStatus).to.equal("none");
    connection.release();
  });

  it("destroys a connection that is released inside a transaction", async () => {
    const driver = driverWith({ pool: { max: 1 } });
    const unfit = await driver.connect({ readOnly: false });
    await unfit.begin({ readOnly: false });
    const [{ id } = {}] = (await run(unfit, "select connection_id() as id")).rows;
    unfit.release();

    const next = await driver.connect({ readOnly: false });

    expect((await run(next, "select connection_id() as id")).rows).to.not.deep.equal([{ id }]);
    next.release();
  });

  describe("for binds", () => {
    for (const bound of [Number.NaN, Number.POSITIVE_INFINITY, new Date("not a date")])
      it(`refuses the bind ${String(bound)}, which would be stored as 0 or null`, async () => {
        const error = await rejectionOf(query("update items set stock = ?", [bound]));

        expect(error).to.include({ code: "E_DB_BIND" });
        expect(error.message).to.contain(
          `bind 1 of a statement is ${bound instanceof Date ? "an invalid Date" : String(bound)}`,
        );
      });

    for (const bound of [[1, 2], { id: 1 }, [[1]], undefined, new Map()])
      it(`refuses the bind ${JSON.stringify(bound) ?? "undefined"}, which would change the condition`, async () => {
        const error = await rejectionOf(query("delete from items where id = ?", [bound]));

        expect(error).to.include({ code: "E_DB_BIND" });
        expect((await query("select id from items")).rows).to.have.length(2);
      });

    const DAY = new Date("2026-03-29T01:30:00.000Z");
    const BOUND: readonly (readonly [string, unknown, unknown])[] = [
      ["select ? as value", "'); drop table items; -- \\", "'); drop table items; -- \\"],
      ["select cast(? as datetime) as value", DAY, DAY],
      ["select cast(? as signed) as value", 2n ** 40n, 2 ** 40],
      ["select ? + 0 as value", true, 1],
      ["select ? as value", null, null],
      ["select cast(? as binary) as value", new Uint8Array([0, 255]), Buffer.from([0, 255])],
    ];
    for (const [sql, bound, value] of BOUND)
      it(`binds the ${typeof bound} ${String(bound)} in ${sql}`, async () => {
        expect((await query(sql, [bound])).rows).to.deep.equal([{ value }]);
      });

    it("binds JSON as a text", async () => {
      await query("insert into notes values (?, ?)", [1, JSON.stringify({ a: [1] })]);

      expect((await query("select json_value(body, '$.a[0]') as a from notes where id = ?", [1])).rows).to.deep.equal([
        { a: "1" },
      ]);
    });
  });

  describe("for results", () => {
    const READ: readonly (readonly [string, unknown])[] = [
      ["cast(9007199254740991 as signed)", 9007199254740991],
      ["cast(9007199254740993 as signed)", "9007199254740993"],
      ["count(*)", 1],
      ["cast('1.10' as decimal(5,2))", "1.10"],
      ["date '2026-03-29'", "2026-03-29"],
      ["timestamp '2026-03-29 01:30:00'", new Date("2026-03-29T01:30:00Z")],
    ];
    for (const [sql, value] of READ)
      it(`reads ${sql}, also prepared`, async () => {
        expect((await query(`select ${sql} as value`)).rows).to.deep.equal([{ value }]);
        expect((await query(`select ${sql} as value from items where id = ?`, [1])).rows).to.deep.equal([{ value }]);
      });

    it("reads all integers of 64 bits as texts with the option", async () => {
      const sql = "select cast(7000000000 as signed) as value from items where id = ?";

      expect((await query(sql, [1], { bigints: "string" })).rows).to.deep.equal([{ value: "7000000000" }]);
    });
  });

  describe("for failures", () => {
    const FAILURES: readonly (readonly [string, readonly unknown[], Readonly<Record<string, unknown>>])[] = [
      ["insert into items (name) values (?)", ["pen"], { kind: "unique", code: "ER_DUP_ENTRY", constraint: "by_name" }],
      [
        "update items set name = ? where id = 1 or id = 2",
        ["canary' for key 'x"],
        { kind: "unique", constraint: "by_name" },
      ],
      [
        "insert into parts values (?)",
        [77],
        { kind: "foreignKey", code: "ER_NO_REFERENCED_ROW_2", constraint: "part_of_item" },
      ],
      [
        "insert into items (stock) values (?)",
        [-77],
        { kind: "check", code: "ER_CONSTRAINT_FAILED", constraint: "stock_positive" },
      ],
      ["insert into parts values (?)", [null], { kind: "notNull", code: "ER_BAD_NULL_ERROR" }],
      [
        "insert into items (name) values (?)",
        ["canary canary canary canary"],
        { kind: "other", text: "a text is too long for its column" },
      ],
      [
        "insert into items (stock) values (?)",
        ["canary"],
        { kind: "other", text: "a text cannot be read as the type of its column" },
      ],
      ["insert into words values (?)", ["canary \u{1F600}"], LACKING],
      ["select * from words where word = ?", ["canary \u{1F600}"], LACKING],
      ["select * from words where word like concat('%', ?)", ["canary \u{1F600}"], LACKING],
      ["select * from words where word in (?, ?)", ["canary", "\u65E5\u672C"], LACKING],
      ["select * from words where word in (?, ?, ?)", ["canary", "ink", "\u65E5\u672C"], LACKING],
      ["update words set word = concat(word, ?)", ["\u{1F600}"], LACKING],
      ["select * from pairs where one = other", [], { kind: "other", code: "ER_CANT_AGGREGATE_2COLLATIONS" }],
      ["select * from pairs where one in (other, ?)", ["canary"], { kind: "other" }],
      ["select concat(one, other, ?) from pairs", ["\u{1F600}"], { kind: "other" }],
      ["select * from pairs where one in (other, ?, ?)", ["canary", "ink"], { kind: "other" }],
      [
        "select * from nothing where a = ?",
        ["canary"],
        { kind: "other", code: "ER_NO_SUCH_TABLE", text: "Table 'shop.nothing' doesn't exist" },
      ],
      ["signal sqlstate '45000' set message_text = 'canary'", [], { kind: "other", text: undefined }],
    ];
    for (const [sql, parameters, expected] of FAILURES)
      it(`reads the failure of ${sql}`, async () => {
        const failure = await failureOf(sql, parameters);

        expect(failure).to.include(expected);
        for (const value of ["canary", "pen", "77"]) expect(JSON.stringify(failure)).to.not.include(value);
      });

    const FOREIGN: readonly (readonly [number, string, string])[] = [
      [3854, "Cannot convert string '\\xF0\\x9F\\x98\\x80' from utf8mb4 to latin1", "text"],
      [3988, "Conversion from collation utf8mb4_0900_ai_ci into latin1_swedish_ci impossible for parameter", "text"],
      [3988, "Conversion from collation utf8mb4_bin into latin1_swedish_ci impossible for column", "other"],
    ];
    for (const [errno, message, kind] of FOREIGN)
      it(`reads the failure of MySQL: ${message}`, () => {
        expect(mysqlFailure(Object.assign(new Error(message), { errno }))).to.include({ kind });
      });

    it("reads the failure of a deadlock, which has ended the transaction of the victim", async () => {
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
      expect([one.transactionStatus, two.transactionStatus]).to.have.members(["none", "open"]);
      await endAll(one, two);
    });

    it("reads the failure of a read-only transaction that writes", async () => {
      const connection = await connect();
      await connection.begin({ readOnly: true });

      expect(mysql(server.url).failure(await rejectionOf(run(connection, "delete from parts")))).to.include({
        kind: "readOnly",
      });
      await endAll(connection);
    });
  });

  describe("with time limits", () => {
    it("has the server end a statement that takes too long", async () => {
      expect(await failureOf("select sleep(5) from items", [], { statementTimeoutMs: 50 })).to.include({
        kind: "timeout",
      });
    });

    it("has the server end a wait for a lock, which leaves the transaction open", async () => {
      const driver = driverWith({ lockTimeoutMs: 100 });
      const [holder, waiter] = [await begun(driver), await begun(driver)];
      await run(holder, "update items set stock = 1");

      const error = await rejectionOf(run(waiter, "update items set stock = 2"));

      expect(driver.failure(error)).to.include({ kind: "busy", code: "ER_LOCK_WAIT_TIMEOUT" });
      expect(waiter.transactionStatus).to.equal("open");
      await endAll(holder, waiter);
    });

    it("has the server end an idle transaction, whose connection is then replaced", async () => {
      const driver = driverWith({ idleInTransactionTimeoutMs: 1000, pool: { max: 1 } });
      const forgotten = await begun(driver);
      const [{ id } = {}] = (await run(forgotten, "select connection_id() as id")).rows;
      await run(forgotten, "update items set stock = 1");
      const left = () => server.run(`select 1 from information_schema.processlist where id = ${String(id)}`);
      await until(async () => (await left()).length === 0);

      const failure = driver.failure(await rejectionOf(run(forgotten, "select 1")));
      forgotten.release();

      expect(failure.kind).to.be.oneOf(["timeout", "connection"]);
      const next = await driver.connect({ readOnly: false });
      expect((await run(next, "select stock from items order by id")).rows).to.deep.equal([{ stock: 5 }, { stock: 7 }]);
      next.release();
    });
  });

  it("locks migrations, and names the connection that holds the lock", async () => {
    const driver = driverWith();
    const lock = await driver.lockMigrations(1000);

    const failure = driver.failure(await rejectionOf(driverWith().lockMigrations(100)));
    await lock.release();
    const next = await driver.lockMigrations(1000);
    await next.release();

    expect(failure.kind).to.equal("busy");
    expect(failure.text).to.match(
      /^the lock of the migrations is held by connection \d+ from 127\.0\.0\.1:\d+, in its state since 20\d\d-.*Z$/,
    );
  });

  it("gives the lock of another database on the same server to another process", async () => {
    await server.run("create database if not exists other");
    const lock = await driverWith().lockMigrations(1000);
    const other = mysql(server.url.replace("/shop", "/other"));
    drivers.push(other);

    await (await other.lockMigrations(100)).release();
    await lock.release();
  });

  it("reads the version of MariaDB behind 5.5.5-", () => {
    expect(["5.5.5-10.11.6-MariaDB", "11.4.2-MariaDB-log", "8.0.36", "5.5.5-8.4.0"].map(isMariadb)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });
});

async function run(
  connection: DriverConnection,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<DriverResult> {
  return connection.query({ sql, parameters, isRead: false });
}

async function begun(driver: DatabaseDriver): Promise<DriverConnection> {
  const connection = await driver.connect({ readOnly: false });
  await connection.begin({ readOnly: false });
  return connection;
}

async function endAll(...connections: readonly DriverConnection[]): Promise<void> {
  for (const connection of connections) {
    if (connection.transactionStatus !== "none") await connection.rollback();
    connection.release();
  }
}
