/** The driver for MariaDB and MySQL when the server dies, hangs, comes back or refuses, and when requests end while statements run. */
import { expect } from "chai";
import { inspect } from "node:util";
import { Database } from "@stagecraft/framework/db";
import { UnknownOutcomeError } from "../../../../lib/db/database-error.js";
import type { DatabaseDriver, DriverConnection, DriverResult } from "../../../../lib/db/driver.js";
import type { PoolFigures } from "../../../../lib/db/pool/pool-report.js";
import { inWorkScope } from "../../../../lib/lifecycle/work-scope.js";
import { createStandaloneHost } from "../../../../lib/db/standalone-host.js";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import type { MysqlOptions } from "../../../../lib/db/drivers/mysql/mysql-options.js";
import { FakeClock } from "../../../../lib/testing/fake-clock.js";
import { errorOf } from "../../../support/error-of.js";
import { needs } from "../../../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

const LEFT = new Error("the client left");
/** The grace period of a driver for running work. */
const STOP_MS = 2000;

class ItemsDatabase extends Database<object> {}

describe("the MySQL driver, when something fails,", function () {
  this.timeout(60_000);
  let server: MariadbServer;
  /** The limits of the drivers use a fake clock, because a busy machine may take any time. */
  let clock: FakeClock;
  const drivers: DatabaseDriver[] = [];

  before(needs("mariadbd"));
  before(async () => {
    // Without it a server that is killed loses the rows of its last second.
    server = await MariadbServer.start(["--innodb-flush-log-at-trx-commit=1"]);
    await server.run("create table items (id int primary key, stock int) engine=innodb");
  });
  beforeEach(() => {
    clock = new FakeClock();
    return server.run("delete from items; insert into items values (1, 5)");
  });
  afterEach(async () => {
    const stopped = Promise.all(drivers.splice(0).map((driver) => driver.stop()));
    clock.advance(STOP_MS);
    await stopped;
  });
  after(() => server[Symbol.asyncDispose]());

  function driverWith(options: Partial<MysqlOptions> = {}): DatabaseDriver {
    const driver = mysql({ url: server.url, ...options });
    driver.prepare({ ...createStandaloneHost("shop"), clock });
    drivers.push(driver);
    return driver;
  }

  async function connect(options?: Partial<MysqlOptions>): Promise<DriverConnection> {
    return driverWith(options).connect({ readOnly: false });
  }

  const runs = async (text: string) =>
    (
      await server.run(
        `select id from information_schema.processlist where info like '${text}%' and id <> connection_id()`,
      )
    ).length > 0;

  it("cancels a read whose request has ended, and uses the connection again", async () => {
    const connection = await connect();
    const ending = new AbortController();
    const { rows } = await run(connection, "select connection_id() as id");
    const failed = rejectionOf(run(connection, "select sleep(30)", { isRead: true, signal: ending.signal }));
    await until(() => runs("select sleep(30)"));

    ending.abort(LEFT);

    // MariaDB returns a row for a cancelled sleep.
    expect(await failed.catch(() => LEFT)).to.equal(LEFT);
    expect(await runs("select sleep(30)")).to.equal(false);
    expect((await run(connection, "select connection_id() as id")).rows).to.deep.equal(rows);
    connection.release();
  });

  it("reports a cancelled write outside of a transaction as unknown", async () => {
    const connection = await connect();
    const ending = new AbortController();
    const failed = rejectionOf(
      run(connection, "update items set stock = 1 where sleep(30) = 0", { signal: ending.signal }),
    );
    await until(() => runs("update items"));

    ending.abort(LEFT);

    expect(await failed).to.be.instanceOf(UnknownOutcomeError);
    connection.release();
  });

  it("ends a cancelled statement of a transaction with the reason", async () => {
    const connection = await connect();
    const ending = new AbortController();
    await connection.begin({ readOnly: false });
    const failed = rejectionOf(
      run(connection, "update items set stock = 1 where sleep(30) = 0", { signal: ending.signal }),
    );
    await until(() => runs("update items"));

    ending.abort(LEFT);

    expect(await failed).to.equal(LEFT);
    await connection.rollback();
    connection.release();
  });

  it("cancels no later statement, however late the cancel comes", async () => {
    const driver = driverWith({ pool: { max: 1 } });
    for (let round = 0; round < 25; round++) {
      const connection = await driver.connect({ readOnly: false });
      const ending = new AbortController();
      const running = run(connection, "select benchmark(20000, md5('a'))", { isRead: true, signal: ending.signal });
      setTimeout(() => ending.abort(LEFT), round / 5);
      await running.catch(() => {});
      connection.release();
      const next = await driver.connect({ readOnly: false });
      // It would fail if the cancel reached it.
      await run(next, "select benchmark(10000, md5('b'))");
      next.release();
    }
  });

  it("destroys a connection whose cancel is not settled within a second", async () => {
    const connection = await connect();
    const ending = new AbortController();
    const failed = rejectionOf(run(connection, "select sleep(31)", { isRead: true, signal: ending.signal }));
    await until(() => runs("select sleep(31)"));
    server.pause();

    ending.abort(LEFT);
    clock.advance(1000);

    expect(await failed).to.equal(LEFT);
    server.resume();
    connection.release();
  });

  it("survives the death of the server: a read fails, a write is unknown, a commit is lost, and then it connects again", async () => {
    const driver = driverWith();
    const [reader, writer, committer] = await Promise.all([1, 2, 3].map(() => connectionOf(driver)));
    if (reader === undefined || writer === undefined || committer === undefined)
      throw new Error("three were asked for");
    await committer.begin({ readOnly: false });
    const read = rejectionOf(run(reader, "select sleep(30)", { isRead: true }));
    const written = rejectionOf(run(writer, "update items set stock = 1 where sleep(30) = 0"));
    await until(() => runs("update items"));

    await server.kill();

    expect(driver.failure(await read).kind).to.equal("connection");
    expect(await written).to.be.instanceOf(UnknownOutcomeError);
    expect(driver.failure(await rejectionOf(committer.commit())).kind).to.equal("connection");
    for (const each of [reader, writer, committer]) each.release();
    const failure = driver.failure(await rejectionOf(connectionOf(driver)));
    expect(failure.text).to.equal(`cannot connect to 127.0.0.1:${server.port}/shop: ECONNREFUSED`);

    await server.restart();
    const again = await driver.connect({ readOnly: false });
    expect((await run(again, "select stock from items")).rows).to.deep.equal([{ stock: 5 }]);
    again.release();
  });

  it("replaces a connection that the server has closed while it was idle", async () => {
    const driver = driverWith({ pool: { max: 1 } });
    const first = await driver.connect({ readOnly: false });
    const [{ id } = {}] = (await run(first, "select connection_id() as id")).rows;
    first.release();
    await server.run(`kill connection ${String(id)}`);
    await until(() => figuresOf(driver).idle === 0);

    const second = await driver.connect({ readOnly: false });

    expect((await run(second, "select 1 as one")).rows).to.deep.equal([{ one: 1 }]);
    second.release();
  });

  it("opens no connection while the server hangs, and fails in time", async () => {
    server.pause();
    const driver = driverWith({ pool: { connectMs: 200 } });

    const failed = rejectionOf(connectionOf(driver));
    await clock.advanceAsync(200);
    const failure = driver.failure(await failed);
    server.resume();

    expect(failure).to.include({ kind: "connection", code: "CONNECT_TIMEOUT" });
  });

  it("reports a commit as unknown that gets no response after the end of its request, and connects again", async () => {
    const db = new ItemsDatabase(driverWith({ pool: { max: 1 } }));
    db.prepare({ ...createStandaloneHost("shop"), clock });
    const ending = new AbortController();
    let isPaused = false;
    const pause = () => {
      server.pause();
      isPaused = true;
    };

    const failed = rejectionOf(inWorkScope({ signal: ending.signal }, () => db.transaction(pause), undefined));
    await until(() => isPaused);
    // Only promise callbacks run between the end of the function and its commit.
    await new Promise((resolve) => setImmediate(resolve));
    ending.abort(LEFT);
    clock.advance(5000);

    expect(await failed).to.include({ code: "E_DB_UNKNOWN_OUTCOME" });
    server.resume();
    expect(await db.transaction(() => db.run("select 1 as one"))).to.deep.equal([{ one: 1 }]);
  });

  it("ends a probe with its signal while the server hangs, and a transaction that begins", async () => {
    const driver = driverWith();
    const [connection, free] = [await connectionOf(driver), await connectionOf(driver)];
    free.release();
    // A use that long ago does not replace a probe.
    clock.advance(1001);
    server.pause();
    const ending = new AbortController();

    const probed = rejectionOf(driver.probe(ending.signal));
    const begun = rejectionOf(connection.begin({ readOnly: false, isolation: "serializable", signal: ending.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    ending.abort(LEFT);
    clock.advance(1000);

    expect(await probed).to.equal(LEFT);
    expect(await begun).to.equal(LEFT);
    server.resume();
    connection.release();
    await driver.probe(AbortSignal.timeout(30_000));
  });

  const REFUSALS: readonly (readonly [string, (url: string) => string, RegExp])[] = [
    ["a wrong password", (url) => url.replace(MARIADB_PASSWORD, "canary-wrong"), /: the server refused the login$/],
    ["an unknown user", (url) => url.replace("owner", "canary-user"), /: the server refused the login$/],
    ["an absent database", (url) => url.replace("/shop", "/absent"), /: the database does not exist$/],
    ["TLS that the server does not offer", (url) => `${url}?ssl-mode=required`, /: HANDSHAKE_NO_SSL_SUPPORT$/],
  ];
  for (const [title, change, reason] of REFUSALS)
    it(`does not start with ${title}, and shows neither user nor password`, async () => {
      const driver = driverWith({ url: change(server.url) });

      const error = await rejectionOf(driver.start());

      expect(error.message).to.match(reason).and.contain(driver.address);
      expect(JSON.stringify(driver.failure(error))).to.not.match(/canary|sesame/);
    });

  it("does not start with a function for the password that fails, and repeats nothing of its error", async () => {
    for (const password of [
      () => Promise.reject(new Error("canary")),
      () => {
        throw new Error("canary");
      },
      () => 4711 as never,
    ]) {
      const driver = driverWith({ password });

      const failure = driver.failure(await rejectionOf(driver.start()));

      expect(failure).to.deep.equal({
        kind: "connection",
        code: "PASSWORD",
        text: `cannot connect to ${driver.address}: the function in the option password failed, or returned no text`,
      });
    }
  });

  it("does not show the password of its URL when it is printed", () => {
    expect(inspect(driverWith({}), { depth: 10, showHidden: true }))
      .to.contain("'owner'")
      .and.not.contain("sesame");
  });

  it("takes a password from a function alone, since a text would stand in the printed driver", () => {
    const error = errorOf(() => driverWith({ password: "canary" as never }));

    expect(error).to.include({ code: "E_DB_SETTING" });
    expect(error.message).to.not.contain("canary");
  });

  it("never repeats a URL that it cannot read", () => {
    for (const url of [
      "canary",
      "postgres://u:canary@h/db",
      "mysql://u:12#canary@h/db",
      "mysql://u:canary@h/db?canary=1",
    ]) {
      const error = errorOf(() => mysql(url));

      expect(error).to.include({ code: "E_DB_URL" });
      expect(error.message).to.not.contain("canary");
    }
  });
});

/** The pool is private. */
function figuresOf(driver: DatabaseDriver): PoolFigures {
  return (driver as unknown as { readonly pool: { readonly figures: PoolFigures } }).pool.figures;
}

async function connectionOf(driver: DatabaseDriver): Promise<DriverConnection> {
  return driver.connect({ readOnly: false });
}

async function run(
  connection: DriverConnection,
  sql: string,
  { isRead = false, signal }: { isRead?: boolean; signal?: AbortSignal } = {},
): Promise<DriverResult> {
  return connection.query({ sql, parameters: [], isRead, signal });
}
