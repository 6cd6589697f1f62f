/** The PostgreSQL driver when the server dies, hangs, comes back, refuses or is full, and when requests end while statements run. */
import { expect } from "chai";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { createServer, connect as connectSocket, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { Database } from "@stagecraft/framework/db";
import { UnknownOutcomeError } from "../../../../lib/db/database-error.js";
import type { DatabaseDriver, DriverConnection, DriverResult } from "../../../../lib/db/driver.js";
import type { PoolFigures } from "../../../../lib/db/pool/pool-report.js";
import { inWorkScope } from "../../../../lib/lifecycle/work-scope.js";
import { createStandaloneHost } from "../../../../lib/db/standalone-host.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import type { PostgresOptions } from "../../../../lib/db/drivers/postgres/postgres-options.js";
import { FakeClock } from "../../../../lib/testing/fake-clock.js";
import { errorOf } from "../../../support/error-of.js";
import { needs } from "../../../support/machine.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { canMount, SmallDisk } from "../../../support/small-disk.js";
import { until } from "../../../support/until.js";

const ACTIVE = "select pid from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()";
const CLIENTS = "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";
const END_CLIENTS = CLIENTS.replace("pid", "pg_terminate_backend(pid)");
const LEFT = new Error("the client left");
/** The grace period of a driver for running work. */
const STOP_MS = 2000;

class NotesDatabase extends Database<object> {
  /** Rows of 400 bytes. A page of the server holds 19. */
  async add(rows: number): Promise<void> {
    await this.run("insert into notes select rpad($1, 400, 'x') from generate_series(1, $2)", ["canary", rows]);
  }
}

describe("the PostgreSQL driver, when something fails,", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  /** The limits of the drivers use a fake clock, because a busy machine may take any time. */
  let clock: FakeClock;
  const drivers: DatabaseDriver[] = [];

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.start(["max_connections=12", "superuser_reserved_connections=0"]);
    await server.run("create table items (id int primary key, stock int)");
  });
  beforeEach(() => {
    clock = new FakeClock();
    return server.run("truncate items; insert into items values (1, 5)");
  });
  afterEach(async () => {
    const stopped = Promise.all(drivers.splice(0).map((driver) => driver.stop()));
    clock.advance(STOP_MS);
    await stopped;
  });
  after(() => server[Symbol.asyncDispose]());

  function driverWith(options: Partial<PostgresOptions> = {}): DatabaseDriver {
    const driver = postgres({ url: server.url, ...options });
    driver.prepare({ ...createStandaloneHost("shop"), clock });
    drivers.push(driver);
    return driver;
  }

  async function connect(options?: Partial<PostgresOptions>): Promise<DriverConnection> {
    return driverWith(options).connect({ readOnly: false });
  }

  const stock = async () => (await server.run("select stock from items"))[0]?.["stock"];
  /** True while a statement with this text runs on the server. */
  const runs = async (text: string) => (await server.run(`${ACTIVE} and query like '${text}%'`)).length > 0;

  describe("at the end of a request", () => {
    it("cancels a read whose request has ended, and uses the connection again", async () => {
      const connection = await connect();
      const ending = new AbortController();
      const [{ pid } = {}] = (await run(connection, "select pg_backend_pid() as pid")).rows;
      const failed = rejectionOf(run(connection, "select pg_sleep(30)", { isRead: true, signal: ending.signal }));
      await until(() => runs("select pg_sleep(30)"));

      ending.abort(LEFT);

      expect(await failed).to.equal(LEFT);
      expect(await runs("select pg_sleep(30)")).to.equal(false);
      expect((await run(connection, "select pg_backend_pid() as pid")).rows).to.deep.equal([{ pid }]);
      connection.release();
    });

    it("cancels a statement of a transaction, which then accepts only a rollback", async () => {
      const connection = await connect();
      const ending = new AbortController();
      await connection.begin({ readOnly: false });
      const failed = rejectionOf(
        run(connection, "update items set stock = 1 where pg_sleep(30) is null", { signal: ending.signal }),
      );
      await until(() => runs("update items"));

      ending.abort(LEFT);

      expect(await failed).to.equal(LEFT);
      expect(connection.transactionStatus).to.equal("failed");
      await connection.rollback();
      connection.release();
    });

    it("cancels a write outside of a transaction, which the server has rolled back", async () => {
      const connection = await connect();
      const ending = new AbortController();
      const failed = rejectionOf(
        run(connection, "update items set stock = stock + length(pg_sleep(30)::text)", { signal: ending.signal }),
      );
      await until(() => runs("update items"));

      ending.abort(LEFT);

      expect(await failed).to.equal(LEFT);
      expect(await stock()).to.equal(5);
      connection.release();
    });

    it("sends no statement for a signal that has aborted before", async () => {
      const connection = await connect();

      expect(
        await rejectionOf(run(connection, "update items set stock = 9", { signal: AbortSignal.abort(LEFT) })),
      ).to.equal(LEFT);
      expect(await stock()).to.equal(5);
      connection.release();
    });

    it("cancels no later statement, however late the cancel comes", async () => {
      const driver = driverWith({ pool: { max: 1 } });
      for (let round = 0; round < 40; round++) {
        const connection = await driver.connect({ readOnly: false });
        const ending = new AbortController();
        const running = run(connection, "select pg_sleep(0.002)", { isRead: true, signal: ending.signal });
        setTimeout(() => ending.abort(LEFT), round / 10);
        await running.catch(() => {});
        connection.release();
        const next = await driver.connect({ readOnly: false });
        // It would fail if the cancel reached it.
        await run(next, "select pg_sleep(0.001)");
        next.release();
      }
    });

    it("cancels with at most two control connections at once", async () => {
      await using front = await Front.before(server.port);
      const driver = driverWith({ url: server.url.replace(String(server.port), String(front.port)), pool: { max: 6 } });
      const ending = new AbortController();
      const connections = await Promise.all(Array.from({ length: 6 }, () => connectionOf(driver)));
      const sleep = "select pg_sleep(40)";
      const failed = connections.map((each) => rejectionOf(run(each, sleep, { isRead: true, signal: ending.signal })));
      await until(async () => (await server.run(ACTIVE + ` and query = '${sleep}'`)).length === 6);
      front.hold();

      ending.abort(LEFT);
      await until(() => front.held === 2);
      // A third connection would be open at the same time.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const heldAtOnce = front.held;
      front.goOn();

      expect(await Promise.all(failed)).to.deep.equal(Array.from({ length: 6 }, () => LEFT));
      expect(heldAtOnce).to.equal(2);
      for (const connection of connections) connection.release();
    });
  });

  describe("on a broken connection", () => {
    it("destroys a connection whose cancel is not settled within a second: a read ends with the reason", async () => {
      const connection = await connect();
      const ending = new AbortController();
      const failed = rejectionOf(run(connection, "select pg_sleep(30)", { isRead: true, signal: ending.signal }));
      await until(() => runs("select pg_sleep(30)"));
      server.pause();
      let isSettled = false;
      void failed.then(() => (isSettled = true));

      ending.abort(LEFT);
      await clock.advanceAsync(999);
      const wasSettled = isSettled;
      clock.advance(1);

      expect(await failed).to.equal(LEFT);
      expect(wasSettled).to.equal(false);
      server.resume();
      connection.release();
      await server.run(END_CLIENTS);
    });

    it("destroys a connection and reports a write without a response as unknown", async () => {
      const connection = await connect();
      const ending = new AbortController();
      const failed = rejectionOf(
        run(connection, "update items set stock = stock + length(pg_sleep(30)::text)", { signal: ending.signal }),
      );
      await until(() => runs("update items"));
      server.pause();

      ending.abort(LEFT);
      clock.advance(1000);

      expect(await failed).to.be.instanceOf(UnknownOutcomeError);
      server.resume();
      connection.release();
      await server.run(END_CLIENTS);
    });

    it("destroys a connection that the server has closed while it was idle, and opens another one", async () => {
      const driver = driverWith({ pool: { max: 1 } });
      const first = await driver.connect({ readOnly: false });
      const [{ pid } = {}] = (await run(first, "select pg_backend_pid() as pid")).rows;
      first.release();
      await server.run(`select pg_terminate_backend(${String(pid)})`);
      const left = () => server.run(`select 1 from pg_stat_activity where pid = ${String(pid)}`);
      await until(async () => (await left()).length === 0);
      await until(() => figuresOf(driver).idle === 0);

      const second = await driver.connect({ readOnly: false });

      expect((await run(second, "select pg_backend_pid() <> $1 as other", { parameters: [pid] })).rows).to.deep.equal([
        { other: true },
      ]);
      second.release();
    });

    it("destroys a connection whose begin gets no response: the caller gets the reason", async () => {
      const driver = driverWith({ pool: { max: 1 } });
      const connection = await driver.connect({ readOnly: false });
      const ending = new AbortController();
      server.pause();

      const failed = rejectionOf(connection.begin({ readOnly: false, signal: ending.signal }));
      ending.abort(LEFT);
      clock.advance(1000);

      expect(await failed).to.equal(LEFT);
      server.resume();
      connection.release();
      const next = await driver.connect({ readOnly: false });
      expect(next.transactionStatus).to.equal("none");
      next.release();
    });

    it("destroys a connection whose commit gets no response after the end of its request, and reports it as unknown", async () => {
      const db = new NotesDatabase(driverWith({ pool: { max: 1 } }));
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

    it("destroys a connection whose rollback gets no response", async () => {
      const driver = driverWith({ pool: { max: 1 } });
      const connection = await driver.connect({ readOnly: false });
      await connection.begin({ readOnly: false });
      server.pause();

      const failed = rejectionOf(connection.rollback());
      clock.advance(5000);
      const failure = driver.failure(await failed);
      connection.destroy(failure);
      server.resume();

      expect(failure).to.include({ kind: "connection", code: "ROLLBACK_TIMEOUT" });
      const next = await driver.connect({ readOnly: false });
      expect(next.transactionStatus).to.equal("none");
      next.release();
    });
  });

  describe("on the server", () => {
    it("fails a read and reports a write and a commit as unknown when the server dies while they run", async () => {
      const driver = driverWith();
      const [reader, writer, committer] = [
        await driver.connect({ readOnly: false }),
        await driver.connect({ readOnly: false }),
        await driver.connect({ readOnly: false }),
      ];
      await committer.begin({ readOnly: false });
      const read = rejectionOf(run(reader, "select pg_sleep(30)", { isRead: true }));
      const written = rejectionOf(run(writer, "update items set stock = 1 where pg_sleep(30) is null"));
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

    it("ends the wait for a connection in time when the server hangs", async () => {
      server.pause();
      const driver = driverWith({ pool: { connectMs: 200 } });

      const failed = rejectionOf(connectionOf(driver));
      await clock.advanceAsync(200);
      const failure = driver.failure(await failed);
      server.resume();

      expect(failure).to.include({ kind: "connection", code: "CONNECT_TIMEOUT" });
    });

    it("ends a probe with its signal when the server hangs", async () => {
      const driver = driverWith();
      const ending = new AbortController();
      await driver.start();
      // A use that long ago does not replace a probe.
      clock.advance(1001);
      server.pause();

      const failed = rejectionOf(driver.probe(ending.signal));
      await new Promise((resolve) => setImmediate(resolve));
      ending.abort(LEFT);
      clock.advance(1000);

      expect(await failed).to.equal(LEFT);
      server.resume();
    });

    const REFUSALS: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
      ["refuses the password", { [POSTGRES_PASSWORD]: "canary-wrong" }, "the server refused the login"],
      ["does not know the user", { owner: "canary-user" }, "the server refused the login"],
      ["does not have the database", { "/shop": "/absent" }, "the database does not exist"],
      ["does not offer TLS", { "/shop": "/shop?sslmode=require" }, "the server does not offer TLS"],
    ];
    for (const [title, change, reason] of REFUSALS)
      it(`does not start with a server that ${title}`, async () => {
        const url = Object.entries(change).reduce((text, [from, to]) => text.replace(from, to), server.url);
        const driver = driverWith({ url });

        const error = await rejectionOf(driver.start());

        expect(error.message).to.equal(`cannot connect to ${driver.address}: ${reason}`);
        expect(JSON.stringify(driver.failure(error))).to.not.match(/canary|sesame/);
      });

    it("does not start where the function for the password fails", async () => {
      const driver = driverWith({ password: () => Promise.reject(new Error("canary")) });

      const failure = driver.failure(await rejectionOf(driver.start()));

      expect(failure).to.deep.equal({
        kind: "connection",
        code: "PASSWORD",
        text: `cannot connect to ${driver.address}: the function in the option password failed, or returned no text`,
      });
    });

    it("lets callers wait for the connections of the pool when the server has no place for another one", async () => {
      const others = driverWith({ pool: { max: 11 } });
      const mine = driverWith({ pool: { max: 5 } });
      await until(async () => (await server.run(CLIENTS)).length === 0);
      const held = await mine.connect({ readOnly: false });
      const taken = await Promise.all(Array.from({ length: 11 }, () => connectionOf(others)));

      const waiting = mine.connect({ readOnly: false });
      await new Promise((resolve) => setTimeout(resolve, 50));
      held.release();

      expect((await run(await waiting, "select 1 as one")).rows).to.deep.equal([{ one: 1 }]);
      (await waiting).release();
      const full = await rejectionOf(connectionOf(driverWith()));
      expect(full.message).to.contain("the server has no place for another connection");
      for (const each of taken) each.release();
    });

    // The test fills a separate disk, and not every container may mount one. A pending test would fail in CI.
    if (canMount())
      it("rolls a transaction back when the disk of the server is full, still reads, and writes when there is space again", async () => {
        using disk = new SmallDisk(512);
        await server.run(`create tablespace small location '${disk.folderOf("postgres")}'`);
        await server.run("create table notes (body varchar(400)) tablespace small");
        const db = new NotesDatabase(driverWith());
        await db.add(500);

        const error = await rejectionOf(
          db.transaction(async () => {
            await db.add(1);
            await db.add(1000);
          }),
        );
        const rows = await db.run("select count(*)::int as notes from notes");
        await server.run("truncate notes");
        await db.add(500);

        expect(error).to.include({ code: "E_DB_FULL", status: 507, engineCode: "53100" });
        expect(error.message).to.contain("the disk of the server is full").and.not.contain("canary");
        expect(rows).to.deep.equal([{ notes: 500 }]);
        await server.run("drop table notes");
        await server.run("drop tablespace small");
      });
  });

  it("refuses a caller in time while a transaction has the only connection of the pool, and serves the next one after it", async () => {
    const driver = driverWith({ pool: { max: 1, waitMs: 60 } });
    const outer = await driver.connect({ readOnly: false });
    await outer.begin({ readOnly: false });

    const failed = rejectionOf(connectionOf(driver));
    await clock.advanceAsync(60);
    const failure = driver.failure(await failed);
    await outer.rollback();
    outer.release();

    expect(failure).to.include({ kind: "overloaded", code: "POOL_WAIT" });
    (await driver.connect({ readOnly: false })).release();
  });

  it("stops in time although a statement runs", async () => {
    const driver = driverWith();
    const connection = await driver.connect({ readOnly: false });
    const failed = rejectionOf(run(connection, "select pg_sleep(29)", { isRead: true }));

    const stopped = driver.stop();
    await clock.advanceAsync(STOP_MS);
    await stopped;

    expect(driver.failure(await failed).kind).to.equal("connection");
    await server.run(END_CLIENTS);
  });
});

describe("the URL of a PostgreSQL server", function () {
  this.timeout(60_000);
  const REFUSED = [
    "",
    "canary",
    "mysql://u:canary@h/db",
    "postgres://h/db",
    "postgres://u:canary@h",
    "postgres://u:canary@/db",
    "postgres://u:12#canary@h/db",
    "postgres://u:12/canary@h/db",
    "postgres://u:12?canary@h/db",
    "postgres://u:canary%zz@h/db",
    "postgres://u:canary@h/db?canary=1",
    "postgres://u:canary@h/db?sslmode=canary",
  ];
  for (const url of REFUSED)
    it(`is refused, and not repeated: ${url}`, () => {
      const error = errorOf(() => postgres(url));

      expect(error).to.include({ code: "E_DB_URL" });
      expect(error.message).to.not.contain("canary");
    });

  it("may have any percent-encoded password, and its address never shows it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (noise) => {
        const url = `postgres://u:${encodeURIComponent(`canary${noise}`)}@db.internal/shop`;
        expect(postgres(url).address).to.equal("db.internal:5432/shop");
      }),
    );
  });

  it("is printed with its driver without the password", () => {
    const driver = postgres("postgres://owner:canary@db.internal/shop");

    expect(inspect(driver, { depth: 10, showHidden: true }))
      .to.contain("'owner'")
      .and.not.contain("canary");
  });

  it("takes a password from a function alone, since a text would stand in the printed driver", () => {
    const url = "postgres://owner@db.internal/shop";
    const error = errorOf(() => postgres({ url, password: "canary" as never }));

    expect(error).to.include({ code: "E_DB_SETTING" });
    expect(error.message).to.not.contain("canary");
    expect(inspect(postgres({ url, password: () => "canary" }), { depth: 10 })).to.not.contain("canary");
  });

  it("shows no part of a password that is not encoded", () => {
    const noise = fc.string({ unit: fc.constantFrom(...Array.from("aZ09:/?#[]@!$&'()*+,;=%-._~ \\^|{}<>\"é")) });
    fc.assert(
      fc.property(noise, noise, (before, after) => {
        let shown: string;
        try {
          shown = postgres(`postgres://u:${before}canary${after}@db.internal/shop`).address;
        } catch (error) {
          shown = error instanceof Error ? `${error.message} ${String(error.stack)}` : "";
        }
        expect(shown).to.not.contain("canary");
      }),
      { numRuns: 2000 },
    );
  });
});

async function connectionOf(driver: DatabaseDriver): Promise<DriverConnection> {
  return driver.connect({ readOnly: false });
}

async function run(
  connection: DriverConnection,
  sql: string,
  {
    parameters = [],
    isRead = false,
    signal,
  }: { parameters?: readonly unknown[]; isRead?: boolean; signal?: AbortSignal } = {},
): Promise<DriverResult> {
  return connection.query({ sql, parameters, isRead, signal });
}

/** The pool is private. */
function figuresOf(driver: DatabaseDriver): PoolFigures {
  return (driver as unknown as { readonly pool: { readonly figures: PoolFigures } }).pool.figures;
}

/** A proxy that can delay new connections. */
class Front implements AsyncDisposable {
  private holds = false;
  private readonly waiting: Socket[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly listener: Server,
    readonly port: number,
    private readonly target: number,
  ) {}

  static async before(target: number): Promise<Front> {
    const listener = createServer();
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    const front = new Front(listener, typeof address === "object" && address !== null ? address.port : 0, target);
    listener.on("connection", (socket) => front.meet(socket));
    return front;
  }

  /** The connections that wait. */
  get held(): number {
    return this.waiting.length;
  }

  /** From now on a new connection waits for `goOn`. */
  hold(): void {
    this.holds = true;
  }

  goOn(): void {
    this.holds = false;
    for (const socket of this.waiting.splice(0)) this.pass(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.listener.close();
    await once(this.listener, "close");
  }

  private meet(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {});
    if (this.holds) this.waiting.push(socket);
    else this.pass(socket);
  }

  private pass(socket: Socket): void {
    const onward = connectSocket(this.target, "127.0.0.1");
    this.sockets.add(onward);
    onward.on("error", () => {});
    socket.pipe(onward).pipe(socket);
    socket.on("close", () => onward.destroy());
    onward.on("close", () => socket.destroy());
  }
}
