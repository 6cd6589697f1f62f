/** The start of a database whose server is not up yet: it is retried for ten seconds. These specs use the time of the machine. */
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { expect } from "chai";
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { freePort } from "../support/free-port.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { ShopDatabase } from "./shop-database.js";

const LIMIT_MS = 10_000;

const ENGINES = [
  {
    name: "PostgreSQL",
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (url: string, connectMs: number): DatabaseDriver => postgres({ url, pool: { connectMs } }),
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: (url: string, connectMs: number): DatabaseDriver => mysql({ url, pool: { connectMs } }),
  },
] as const;

/** A proxy before a server. It gives each connection to the next function, and to the server where none is left. */
class Front implements AsyncDisposable {
  /** The connections that came. */
  met = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(
    readonly port: number,
    target: number,
    private readonly refusals: ((socket: Socket) => void)[],
  ) {
    this.server = createServer((socket) => {
      this.met++;
      this.keep(socket);
      const refuse = this.refusals.shift();
      if (refuse === undefined) socket.pipe(this.keep(connect(target, "127.0.0.1"))).pipe(socket);
      else refuse(socket);
    });
  }

  async listen(): Promise<void> {
    await once(this.server.listen(this.port, "127.0.0.1"), "listening");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket.on("error", () => socket.destroy()));
    return socket;
  }
}

function neverAnswer(): void {}

async function works(db: ShopDatabase): Promise<void> {
  expect(await db.run("select 1 as one")).to.deep.equal([{ one: 1 }]);
}

async function failedStart(db: ShopDatabase): Promise<{ readonly error: Error; readonly seconds: number }> {
  const startedAt = performance.now();
  const error = await rejectionOf(db.start());
  return { error, seconds: (performance.now() - startedAt) / 1000 };
}

for (const { name, program, start, driver } of ENGINES)
  describe(`the start of a database on ${name}`, function () {
    this.timeout(60_000);
    let server: PostgresServer | MariadbServer;

    before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server[Symbol.asyncDispose]());

    const databaseAt = (port: number, connectMs = 5000): ShopDatabase =>
      new ShopDatabase(driver(server.url.replace(`:${server.port}/`, `:${port}/`), connectMs));

    it("waits for a server that pauses, also for longer than a connection may take", async () => {
      server.pause();
      setTimeout(() => server.resume(), 500);
      await using patient = databaseAt(server.port);
      await using hasty = databaseAt(server.port, 200);

      await Promise.all([patient.start(), hasty.start()]);

      await works(patient);
      await works(hasty);
    });

    it("waits for a server that starts to listen two seconds later", async () => {
      await using front = new Front(await freePort(), server.port, []);
      const startedAt = performance.now();
      let listening: Promise<void> | undefined;
      setTimeout(() => {
        listening = front.listen();
      }, 2000);
      await using db = databaseAt(front.port);

      await db.start();
      await listening;

      expect(performance.now() - startedAt).to.be.at.least(1990);
      await works(db);
    });

    it("waits for a server that resets the first connections, or closes them", async () => {
      const refusals = [(socket: Socket) => void socket.resetAndDestroy(), (socket: Socket) => void socket.end()];
      await using front = new Front(await freePort(), server.port, refusals);
      await front.listen();
      await using db = databaseAt(front.port);

      await db.start();

      expect(front.met).to.equal(3);
      await works(db);
    });

    it("fails after ten seconds without a server, and with one that never responds, and names the address alone", async () => {
      await using front = new Front(
        await freePort(),
        server.port,
        Array.from({ length: 100 }, () => neverAnswer),
      );
      await front.listen();
      const absent = await freePort();

      const [refused, unanswered] = await Promise.all([
        failedStart(databaseAt(absent, 1000)),
        failedStart(databaseAt(front.port, 1000)),
      ]);

      expect(refused.error).to.include({ code: "E_DB_CONNECTION", engineCode: "ECONNREFUSED" });
      expect(refused.error.message).to.contain(`cannot connect to 127.0.0.1:${absent}/shop: ECONNREFUSED`);
      expect(unanswered.error).to.include({ code: "E_DB_CONNECTION", engineCode: "CONNECT_TIMEOUT" });
      expect(front.met).to.be.within(5, 12);
      for (const { seconds } of [refused, unanswered]) expect(seconds).to.be.within(LIMIT_MS / 1000 - 2, 30);
    });

    it("fails at once where the login is refused, or the database is absent", async () => {
      await using front = new Front(await freePort(), server.port, []);
      await front.listen();
      const url = server.url.replace(`:${server.port}/`, `:${front.port}/`);
      const [login, absent] = [url.replace(/:[^:@]+@/, ":wrong@"), url.replace("/shop", "/absent")];

      const errors = [];
      for (const each of [login, absent]) errors.push(await rejectionOf(new ShopDatabase(driver(each, 5000)).start()));

      expect(errors[0]?.message).to.contain("the server refused the login");
      expect(errors[1]?.message).to.contain("the database does not exist");
      expect(front.met).to.equal(2);
    });
  });
