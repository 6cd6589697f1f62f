/** Sessions in a database: the contract on every engine, and the store in an application whose handlers use the same database. */
import { Application, Clock, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { Database, rolledBack, type DatabaseDriver, type DatabaseOptions } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Session, SessionConfig, SessionStore } from "@stagecraft/framework/session";
import { DatabaseSessionStore, sessionMigrations } from "@stagecraft/framework/session/db";
import { expectNoLeak, expectProblem, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { obeysSessionStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { CamelCasePlugin } from "kysely";
import { createHash, randomBytes } from "node:crypto";
import { retryUntilDecided } from "../../../../../lib/stages/session/stores/db/session-table.js";
import { temporaryFolder } from "../../../../db/shop-database.js";
import { Gate } from "../../../../support/gate.js";
import { needs } from "../../../../support/machine.js";
import { MariadbServer } from "../../../../support/mariadb-server.js";
import { PostgresServer } from "../../../../support/postgres-server.js";
import { rejectionOf } from "../../../../support/rejection-of.js";
import { until } from "../../../../support/until.js";
import { endsWhileTheyMove } from "../owned-sessions.js";

const KEY = "5a".repeat(64);
const CANARY = "canary4711secret";
/** The statements that wait for a lock. */
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";
const LIFETIMES = { idleMs: 60_000, absoluteMs: 3_600_000, renew: true };

interface SessionShopTables {
  readonly notes: { readonly text: string };
}

class SessionShop extends Database<SessionShopTables> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async notes(): Promise<readonly string[]> {
    return (await this.query.selectFrom("notes").selectAll().execute()).map(({ text }) => text);
  }

  async sessions(): Promise<number> {
    const rows = await this.run("select id from framework_sessions where ended_at is null");
    return rows.length;
  }
}

const NOTES = {
  name: "notes",
  up: (db: Parameters<(typeof sessionMigrations)[number]["up"]>[0]) =>
    db.schema.createTable("notes").addColumn("text", "varchar(40)").execute(),
  down: (db: Parameters<(typeof sessionMigrations)[number]["up"]>[0]) => db.schema.dropTable("notes").execute(),
};

const shopOn = (driver: DatabaseDriver, options: DatabaseOptions = {}) =>
  new SessionShop(driver, { migrations: [sessionMigrations, NOTES], migrate: true, ...options });

async function startedOn(driver: DatabaseDriver, options?: DatabaseOptions): Promise<SessionShop> {
  const db = shopOn(driver, options);
  await db.start();
  return db;
}

const newKey = () => randomBytes(32).toString("base64url");
const at = (now: number) => ({ now, startedAt: now, ...LIFETIMES });

const hasText = async (ctx: Context) => String((await Session.of(ctx).get("text")) !== undefined);
const putText = async (ctx: Context) => Session.of(ctx).put("text", await ctx.text());

const routes = (db: SessionShop) =>
  new Routes([
    Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
    Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
    Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
    Route.post("/login", (ctx: Context) => Session.of(ctx).regenerate()),
    Route.post("/undone/{name}", async (ctx: Context<"name">) => {
      const undone = db.transaction(async () => {
        await db.query.insertInto("notes").values({ text: "undone" }).execute();
        const before = await Session.of(ctx).get("name");
        Session.of(ctx).put("name", `${String(before)} and ${ctx.params.name}`);
        throw new Error("the handler changes its mind");
      });
      return (await rejectionOf(undone)).message;
    }),
  ]);

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
const named = async (app: TestApp, cookie: string) => (await app.get("/name", { headers: { cookie } })).text();

const appOn = (db: SessionShop, clock: Clock = new FakeClock()) =>
  testApp(
    Application.create()
      .provide(provide(SessionShop).useValue(db))
      .session(new SessionConfig(KEY), new DatabaseSessionStore(db))
      .routes(routes(db)),
    provide(Clock).useValue(clock),
  );

/** Two instances of an application, and a load balancer. */
class TakingTurns extends SessionStore {
  private calls = 0;

  constructor(
    private readonly one: SessionStore,
    private readonly two: SessionStore,
  ) {
    super();
  }

  private get next(): SessionStore {
    return this.calls++ % 2 === 0 ? this.one : this.two;
  }

  override load(...args: Parameters<SessionStore["load"]>) {
    return this.next.load(...args);
  }

  override create(...args: Parameters<SessionStore["create"]>) {
    return this.next.create(...args);
  }

  override update(...args: Parameters<SessionStore["update"]>) {
    return this.next.update(...args);
  }

  override move(...args: Parameters<SessionStore["move"]>) {
    return this.next.move(...args);
  }

  override end(...args: Parameters<SessionStore["end"]>) {
    return this.next.end(...args);
  }

  override listOfOwner(...args: Parameters<SessionStore["listOfOwner"]>) {
    return this.next.listOfOwner(...args);
  }

  override sweepExpired(now?: number) {
    return this.next.sweepExpired(now);
  }
}

interface SessionEngine {
  readonly name: string;
  readonly program?: "postgres" | "mariadbd";
  readonly start: () => Promise<AsyncDisposable>;
  readonly driver: (server: AsyncDisposable) => DatabaseDriver;
}

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

const ENGINES: readonly SessionEngine[] = [
  {
    name: "a file of SQLite",
    start: temporaryFolder,
    driver: (folder) => sqlite((folder as Folder).file("shop.db")),
  },
  {
    name: "PostgreSQL",
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (server) => postgres({ url: (server as PostgresServer).url }),
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: (server) => mysql({ url: (server as MariadbServer).url }),
  },
];

for (const { name, program, start, driver } of ENGINES) {
  describe(`sessions in ${name}`, function () {
    this.timeout(60_000);
    let server: AsyncDisposable;

    if (program !== undefined) before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server?.[Symbol.asyncDispose]());

    it("need their table at the start", async () => {
      const db = new SessionShop(driver(server));
      void new DatabaseSessionStore(db);
      const missing = await rejectionOf(db.start());

      expect(missing).to.have.property("code", "E_DB_TABLE");
      expect(missing.message).to.include("list sessionMigrations of @stagecraft/framework/session/db");
    });

    it("obey the contract of session stores, also through two instances", async () => {
      await using db = await startedOn(driver(server));
      await using other = await startedOn(driver(server));
      const [one, two] = [new DatabaseSessionStore(db), new DatabaseSessionStore(other)];
      const key = newKey();

      const created = await Promise.all([one, two].map((store) => store.create(key, new Map(), at(0))));
      const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
      await Promise.all(
        names.map((each, index) =>
          (index % 2 === 0 ? one : two).update(key, { set: new Map([[each, "1"]]), deleted: [] }, at(1)),
        ),
      );

      expect(created).to.have.members([false, true]);
      expect([...((await one.load(key, 2))?.values.keys() ?? [])]).to.have.members(names);
      await obeysSessionStore(new TakingTurns(one, two));
    });

    it("end for their owner in another process while requests give them new ids", async () => {
      await using db = await startedOn(driver(server));
      await using other = await startedOn(driver(server));

      await endsWhileTheyMove(new DatabaseSessionStore(db), new DatabaseSessionStore(other));
    });

    it("stay valid when the table gets its owners, and get theirs with a change", async () => {
      await using db = await startedOn(driver(server));
      const store = new DatabaseSessionStore(db);
      const [key, owner] = [newKey(), JSON.stringify(newKey())];
      await store.create(key, new Map([["_owner", owner]]), at(0));
      // A row that a version without owners has written has no owner in its column.
      expect(await db.migrations.rollback({ to: "framework-sessions-1" })).to.include("framework-sessions-2");
      await db.migrations.run();

      expect((await store.load(key, 1))?.values.get("_owner")).to.equal(owner);
      expect(await store.listOfOwner(owner, 1)).to.deep.equal([]);
      await store.update(key, { set: new Map([["a", "1"]]), deleted: [] }, at(2));
      expect((await store.listOfOwner(owner, 3)).map((each) => each.key)).to.deep.equal([key]);
    });

    it("are listed for their owner, at most a thousand", async () => {
      await using db = await startedOn(driver(server));
      const store = new DatabaseSessionStore(db);
      const owner = JSON.stringify(newKey());
      for (let count = 0; count < 1010; count++) await store.create(newKey(), new Map([["_owner", owner]]), at(count));

      const listed = await store.listOfOwner(owner, 1010);

      expect([listed.length, listed[0]?.renewedAt]).to.deep.equal([1000, 1009]);
    });

    it("may be large, and in every script", async () => {
      await using db = await startedOn(driver(server));
      const store = new DatabaseSessionStore(db);
      const [key, values] = [newKey(), new Map([["große 🧺", JSON.stringify("ж".repeat(100_000))]])];

      await store.create(key, values, at(0));

      expect((await store.load(key, 0))?.values).to.deep.equal(values);
    });

    it("are saved where the transaction of the handler is rolled back", async () => {
      const db = shopOn(driver(server));
      await using app = await appOn(db);
      const cookie = cookieOf(await app.post("/name/Ada"));

      const answer = await app.post("/undone/Eve", { headers: { cookie } });

      expect(await answer.text()).to.equal("the handler changes its mind");
      expect(await named(app, cookie)).to.equal("Ada and Eve");
      expect(await db.notes()).to.deep.equal([]);
    });

    // SQLite has one writer: a write beside an open transaction would wait for its end.
    if (program !== undefined) {
      it("are written beside the open transaction, which loses the rest", async () => {
        await using db = await startedOn(driver(server));
        const store = new DatabaseSessionStore(db);
        const [key, moved] = [newKey(), newKey()];

        const undone = db.transaction(async () => {
          await db.query.insertInto("notes").values({ text: "undone" }).execute();
          await store.create(key, new Map([["a", "1"]]), at(0));
          await store.move(key, moved, { set: new Map([["b", "2"]]), deleted: [] }, at(1));
          throw new Error("the handler changes its mind");
        });

        expect((await rejectionOf(undone)).message).to.equal("the handler changes its mind");
        expect((await store.load(moved, 2))?.values).to.deep.equal(new Map(Object.entries({ a: "1", b: "2" })));
        expect(await db.notes()).to.deep.equal([]);
      });
    }

    it("are shared by two processes, and survive the restart of one", async () => {
      await using one = await appOn(shopOn(driver(server)));
      let cookie: string;
      {
        await using other = await appOn(shopOn(driver(server)));
        cookie = cookieOf(await other.post("/name/Ada"));
      }
      await using restarted = await appOn(shopOn(driver(server)));

      expect(await named(one, cookie)).to.equal("Ada");
      const moved = cookieOf(await one.post("/login", { headers: { cookie } }));
      expect(await named(restarted, cookie)).to.equal("nobody");
      expect(await named(restarted, moved)).to.equal("Ada");
      await restarted.post("/logout", { headers: { cookie: moved } });
      expect(await named(one, moved)).to.equal("nobody");
    });

    it("are swept in steps, and unexpired ones stay", async () => {
      await using db = await startedOn(driver(server));
      await db.run("delete from framework_sessions");
      const store = new DatabaseSessionStore(db);
      for (let count = 0; count < 205; count++) await store.create(newKey(), new Map(), at(0));
      await store.create(newKey(), new Map(), at(1));
      await store.end(newKey(), -600_000);

      expect(await store.sweepExpired(60_000)).to.equal(205);
      expect(await db.run("select ended_at from framework_sessions")).to.deep.equal([{ ended_at: null }]);
    });
  });
}

const storeInMemory = async (options?: DatabaseOptions) =>
  new DatabaseSessionStore(await startedOn(sqlite(":memory:"), options));

describe("sessions in a database in memory", function () {
  this.timeout(60_000);
  it("obey the contract of session stores, also where a plugin renames columns", async () => {
    await obeysSessionStore(await storeInMemory());
    await obeysSessionStore(await storeInMemory({ plugins: [new CamelCasePlugin()] }));
  });

  it("are read in the transaction of the handler, which holds the one connection", async () => {
    const db = shopOn(sqlite(":memory:"));
    await using app = await appOn(db);
    const cookie = cookieOf(await app.post("/name/Ada"));

    const answer = await app.post("/undone/Eve", { headers: { cookie } });

    expect(answer.status).to.equal(200);
    expect(await named(app, cookie)).to.equal("Ada and Eve");
  });

  it("are not written in a transaction, which holds the one connection, and the error names both calls", async () => {
    await using db = await startedOn(sqlite(":memory:"));
    const store = new DatabaseSessionStore(db);
    await store.create(newKey(), new Map(), at(0));
    const writes: readonly (() => Promise<unknown>)[] = [
      () => store.create(newKey(), new Map(), at(0)),
      () => store.update(newKey(), { set: new Map(), deleted: [] }, at(0)),
      () => store.move(newKey(), newKey(), { set: new Map(), deleted: [] }, at(0)),
      () => store.end(newKey(), 0),
      () => store.sweepExpired(),
    ];

    for (const write of writes) {
      const error = await rejectionOf(db.transaction(() => write()));

      expect(error).to.include({ code: "E_DB_SECOND_CONNECTION" });
      expect(error.message.match(/database-session-store\.spec/g)).to.have.lengthOf(2);
    }
    expect(await db.sessions()).to.equal(1);
  });

  it("disappear with the test that runs in a transaction", async () => {
    const db = shopOn(sqlite(":memory:"));
    await using app = await appOn(db);
    {
      await using undo = await rolledBack(db);
      void undo;
      const cookie = cookieOf(await app.post("/name/Ada"));
      await app.post("/undone/Eve", { headers: { cookie } });
      expect(await named(app, cookie)).to.equal("Ada and Eve");
    }

    expect(await db.sessions()).to.equal(0);
  });

  it("are part of the database's health alone", async () => {
    await using app = await appOn(shopOn(sqlite(":memory:")));

    const { checks } = await (await app.get("/up/ready")).json<{ checks: Record<string, unknown> }>();

    expect(checks).to.deep.equal({ database: { status: "up" } });
  });

  it("hold only the hash of an id", async () => {
    const db = shopOn(sqlite(":memory:"));
    await using app = await appOn(db);
    const id = cookieOf(await app.post("/name/Ada")).slice("__Host-id=".length, -44);

    const rows = await db.run("select * from framework_sessions");

    expect(rows[0]).to.include({ id: createHash("sha256").update(id).digest("hex"), data: '[["name","\\"Ada\\""]]' });
    expect(JSON.stringify(rows)).not.to.include(id);
  });

  it("follow the clock of the application", async () => {
    const clock = new FakeClock();
    await using app = await appOn(shopOn(sqlite(":memory:")), clock);
    const cookie = cookieOf(await app.post("/name/Ada"));

    clock.advance(14 * 86_400_000 - 1);
    expect(await named(app, cookie)).to.equal("Ada");
    clock.advance(14 * 86_400_000);
    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("are swept by the writes of the store, step by step while many have expired", async () => {
    const db = await startedOn(sqlite(":memory:"));
    const sessions = new DatabaseSessionStore(db);
    for (let count = 0; count < 450; count++) await sessions.create(newKey(), new Map(), at(0));
    const later = 10 * 60_000;

    await sessions.create(newKey(), new Map(), at(later));
    await until(async () => (await db.sessions()) === 251);
    await sessions.create(newKey(), new Map(), at(later));
    await until(async () => (await db.sessions()) === 52);
    await sessions.create(newKey(), new Map(), at(later));
    await until(async () => (await db.sessions()) === 3);
  });

  it("are still written if the sweep fails", async () => {
    const db = await startedOn(sqlite(":memory:"));
    const sessions = new DatabaseSessionStore(db);
    await sessions.create(newKey(), new Map(), at(0));
    await db.run("create trigger guard before delete on framework_sessions begin select raise(abort, 'no'); end");

    expect(await sessions.create(newKey(), new Map(), at(10 * 60_000))).to.equal(true);
    expect(await rejectionOf(sessions.sweepExpired(10 * 60_000)))
      .to.have.property("code")
      .that.matches(/^E_DB/);
  });

  it("keep the latest change where the lifetime has no end", async () => {
    const sessions = await storeInMemory();
    const key = newKey();
    const endless = {
      now: 1,
      startedAt: 1,
      idleMs: Number.MAX_SAFE_INTEGER,
      absoluteMs: Number.MAX_SAFE_INTEGER,
      renew: true,
    };

    await sessions.create(key, new Map([["a", "1"]]), endless);

    expect((await sessions.load(key, 2))?.values).to.deep.equal(new Map([["a", "1"]]));
  });

  it("need their migration, which the start names, and lose the table with it", async () => {
    const pending = await rejectionOf(shopOn(sqlite(":memory:"), { migrate: false }).start());
    const db = await startedOn(sqlite(":memory:"), { migrations: [sessionMigrations] });

    expect(pending).to.include({ code: "E_DB_PENDING" });
    expect(pending.message).to.include("framework-sessions-1");
    expect(await db.migrations.rollback(2)).to.deep.equal(["framework-sessions-2", "framework-sessions-1"]);
    expect(await db.migrations.run()).to.deep.equal(["framework-sessions-1", "framework-sessions-2"]);
  });

  it("are an error without their content where a row is not as the store has written it", async () => {
    const db = await startedOn(sqlite(":memory:"));
    const sessions = new DatabaseSessionStore(db);
    const key = newKey();
    await sessions.create(key, new Map(), at(0));

    for (const data of [`[["a", ${CANARY}`, `["${CANARY}"]`, `[["a", 1]]`, "{}"]) {
      await db.run("update framework_sessions set data = ?", [data]);
      const error = await rejectionOf(sessions.load(key, 1));
      expect(error).to.include({ code: "E_SESSION_ROW" });
      expect(String(error.stack)).not.to.include(CANARY);
    }
  });

  it("refuse a value that is not a database, and a key that is not a hash", async () => {
    const sessions = await storeInMemory();

    // @ts-expect-error a file is not a Database
    expect(() => new DatabaseSessionStore("shop.db")).to.throw(TypeError);
    for (const key of ["", "x", `${newKey()}=`, newKey().slice(1)])
      expect(await rejectionOf(sessions.load(key, 0))).to.be.instanceOf(TypeError);
  });

  it("are a 503 where other requests are faster every time", async () => {
    expect(await rejectionOf(retryUntilDecided(async () => undefined))).to.include({
      code: "E_SESSION_CONFLICT",
      status: 503,
    });
  });

  it("are not shown in logs, spans, metrics and responses, also if statements fail", async () => {
    const db = shopOn(sqlite(":memory:"), { slowQueryMs: 0 });
    const builder = Application.create()
      .provide(provide(SessionShop).useValue(db))
      .session(new SessionConfig(KEY), new DatabaseSessionStore(db))
      .routes(new Routes([Route.get("/text", hasText), Route.post("/text", putText)]))
      .requestId()
      .accessLog()
      .errorMapping();
    await using app = await testApp(builder);
    const cookie = cookieOf(await app.post("/text", { body: CANARY }));

    expect(await (await app.get("/text", { headers: { cookie } })).text()).to.equal("true");
    await expectNoLeak(app, CANARY);
    await db.run("drop table framework_sessions");
    await expectProblem(await app.post("/text", { body: CANARY, headers: { cookie } }), { status: 503 });
    await expectNoLeak(app, CANARY);
  });
});

describe("sessions in a database that fails", function () {
  this.timeout(60_000);
  let server: PostgresServer;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    // A server that is killed loses no commit.
    await server.run("alter database shop set synchronous_commit = on");
  });
  after(() => server?.[Symbol.asyncDispose]());

  const start = (db = shopOn(postgres({ url: server.url })), more: readonly Route[] = []) =>
    testApp(
      Application.create()
        .provide(provide(SessionShop).useValue(db))
        .session(new SessionConfig(KEY), new DatabaseSessionStore(db))
        .routes(routes(db).merge(new Routes(more))),
    );

  it("are a 503 during the failure, and work again after it", async () => {
    await using app = await start();
    const cookie = cookieOf(await app.post("/name/Ada"));
    await server.kill();

    for (const [path, method] of [
      ["/name", "GET"],
      ["/name/Eve", "POST"],
      ["/login", "POST"],
      ["/logout", "POST"],
    ] as const) {
      const response = await app.request(path, { method, headers: { cookie } });
      await expectProblem(response, {
        status: 503,
        detail: "The session store is unavailable. Please try again shortly.",
      });
      expect(response.headers.getSetCookie()).to.deep.equal([]);
    }
    expect(await (await app.get("/name")).text()).to.equal("nobody");
    expect(app.logs.transcript()).to.include("session store failed");

    await server.restart();
    await until(async () => (await app.get("/name", { headers: { cookie } })).status === 200);
    expect(await named(app, cookie)).to.equal("Ada");
  });

  it("are not a failure in the log where only the client has left", async () => {
    const read: unknown[] = [];
    const slow = Route.get("/slow", async (ctx: Context) => {
      read.push(await Session.of(ctx).get("name"));
    });
    const db = shopOn(postgres({ url: server.url }));
    await using app = await start(db, [slow]);
    const cookie = cookieOf(await app.post("/name/Ada"));
    const leaving = new AbortController();
    const locked = new Gate();
    const over = new Gate();
    const lock = db.transaction(async () => {
      await db.run("lock table framework_sessions in access exclusive mode");
      locked.open();
      await over.passed;
    });
    await locked.passed;

    const answer = app.get("/slow", { headers: { cookie }, signal: leaving.signal }).catch(() => "left");
    await until(async () => (await server.run(WAITING)).length > 0);
    leaving.abort();
    expect(await answer).to.equal("left");
    over.open();
    await lock;
    await until(() => read.length > 0);

    expect(read).to.deep.equal(["Ada"]);
    expect(await named(app, cookie)).to.equal("Ada");
    expect(app.logs.transcript()).not.to.include("session store failed");
  });
});
