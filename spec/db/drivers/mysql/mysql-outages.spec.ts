/** An application on a real MariaDB that hangs and comes back, has no space left, or loses the connection of a commit. */
import { expect } from "chai";
import { Application, Clock, Controller, Get, Module, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import type { PoolFigures } from "../../../../lib/db/pool/pool-report.js";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

/** All tables share one file, which ends at 14 MB. An empty server needs 12 of them. */
const SMALL = [
  "--innodb-file-per-table=0",
  "--innodb-data-file-path=ibdata1:12M:autoextend:max:14M",
  "--innodb-autoextend-increment=1",
];
const POOL = { max: 2, waitMs: 300, connectMs: 300 };
const LIMIT_MS = 500;

class NotesDatabase extends Database<object> {
  /** Rows of 7 000 bytes. A page of InnoDB holds two. */
  async add(rows: number): Promise<void> {
    await this.run(`insert into notes (body) select rpad(?, 7000, 'x') from seq_1_to_${rows}`, ["canary"]);
  }

  async count(): Promise<unknown> {
    return (await this.run("select count(*) as notes from notes"))[0]?.["notes"];
  }
}

describe("an application on MariaDB", function () {
  this.timeout(60_000);
  let server: MariadbServer;
  /** The limits of application and driver use a fake clock, because a busy machine may take any time. */
  let clock: FakeClock;
  let app: TestApp;
  let db: NotesDatabase;

  before(needs("mariadbd"));
  before(async () => {
    server = await MariadbServer.start(SMALL);
    await server.run("create table notes (id int primary key auto_increment, body varchar(7000) character set latin1)");
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await server.run("delete from notes");
    clock = new FakeClock();
    app = await testApp(application(server.url), provide(Clock).useValue(clock));
    db = app.resolve(NotesDatabase);
  });
  afterEach(() => app[Symbol.asyncDispose]());

  const statuses = (...paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await app.get(path)).status));
  /** The pool is private. */
  const figures = () => (db.driver as unknown as { readonly pool: { readonly figures: PoolFigures } }).pool.figures;
  /** The result of work that waits for a connection as long as it may. */
  const afterItsWait = async <T>(work: Promise<T>): Promise<T> => {
    await until(() => figures().waiting === 1);
    await clock.advanceAsync(POOL.waitMs);
    return work;
  };
  /** The connections of the application that the server has. */
  const connections = async () =>
    (await server.run("select id from information_schema.processlist where user = 'owner' and id <> connection_id()"))
      .length;

  it("whose server hangs responds in time, serves again when the server continues, and leaves no connection or timer", async () => {
    const handles = openHandles();
    await Promise.all([db.run("select sleep(0.1)"), db.run("select sleep(0.1)")]);
    await until(async () => (await connections()) === POOL.max);
    server.pause();

    const limited = statuses("/notes", "/copy");
    await until(() => figures().inUse === POOL.max);
    await clock.advanceAsync(LIMIT_MS);
    const during = await limited;
    const later: unknown[] = [];
    for (const path of ["/notes", "/copy", "/notes", "/copy"]) later.push(await afterItsWait(statuses(path)));
    // Meanwhile the cancel of each statement has reached its time limit, and no use is recent enough to replace a probe.
    const attempt = await afterItsWait(rejectionOf(db.count()));
    await rejectionOf(db.probe(AbortSignal.timeout(50)));
    server.resume();
    await until(async () => (await app.get("/notes")).status === 200);

    expect(during).to.deep.equal([408, 408]);
    expect(later).to.deep.equal([[503], [503], [503], [503]]);
    expect(attempt).to.include({ code: "E_DB_CONNECTION", engineCode: "CONNECT_TIMEOUT" });
    await db.probe(AbortSignal.timeout(30_000));
    expect(await statuses("/notes", "/copy", "/notes")).to.deep.equal([200, 200, 200]);
    // The server ends the statements that were cancelled while it hung.
    await until(async () => (await connections()) <= POOL.max);
    await app.stop();
    await until(async () => (await connections()) === 0);
    await until(() => openHandles() <= handles);
    // Some timers stay when their work has ended, and none of them sets another timer.
    clock.advance(5000);
    expect(clock.pending).to.equal(0);
  });

  it("whose tables are full rolls back with a 507, still reads, and writes again when rows are deleted", async () => {
    await db.add(100);

    const error = await rejectionOf(
      db.transaction(async () => {
        await db.add(1);
        await db.add(2000);
      }),
    );
    const kept = await db.count();
    await db.run("delete from notes");
    // The server purges deleted rows a little later.
    await until(() =>
      db.add(100).then(
        () => true,
        () => new Promise((resolve) => setTimeout(resolve, 50, false)),
      ),
    );

    expect(error).to.include({ code: "E_DB_FULL", status: 507, engineCode: "ER_RECORD_FILE_FULL" });
    expect(error.message).to.not.contain("canary");
    expect(kept).to.equal(100);
    expect(await db.count()).to.equal(100);
  });

  it("that loses the connection of a commit reports an unknown outcome, and continues", async () => {
    const others = mysql(server.url);
    const holder = await others.connect({ readOnly: false });
    let id: unknown;

    const failed = rejectionOf(
      db.transaction(async () => {
        await db.add(1);
        id = (await db.run("select connection_id() as id"))[0]?.["id"];
        // From now on a commit waits.
        await holder.query({ sql: "flush tables with read lock", parameters: [], isRead: false });
      }),
    );
    const waiting = "select id from information_schema.processlist where info = 'commit' and state like 'Waiting%'";
    await until(async () => (await server.run(waiting)).length === 1);
    await server.run(`kill connection ${String(id)}`);
    const error = await failed;
    // The server has rolled back then. Without the lock before, it could still commit.
    const ending = `select id from information_schema.processlist where id = ${String(id)}`;
    await until(async () => (await server.run(ending)).length === 0);
    holder.destroy(undefined);
    await others.stop();

    expect(error).to.include({ code: "E_DB_UNKNOWN_OUTCOME", status: 500 });
    expect(await db.count()).to.equal(0);
    await db.transaction(() => db.add(1));
    expect(await db.count()).to.equal(1);
  });
});

/** The sockets and timers that keep this process alive. */
function openHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => /^(TCPSocketWrap|Timeout)$/.test(kind)).length;
}

function application(url: string) {
  @Controller("/")
  class NotesController {
    constructor(private readonly db: NotesDatabase) {}

    @Get("/notes")
    async read() {
      return { notes: await this.db.count() };
    }

    @Get("/copy")
    async copy() {
      return this.db.transaction(async () => ({ notes: await this.db.count() }));
    }
  }

  @Module({
    controllers: [NotesController],
    providers: [provide(NotesDatabase).useFactory(() => new NotesDatabase(mysql({ url, pool: POOL })))],
  })
  class NotesModule {}

  return Application.create(NotesModule).errorMapping().timeout(LIMIT_MS);
}
