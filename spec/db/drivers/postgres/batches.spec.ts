/** Many reads of one request on a pool with one connection: they are pipelined on it. */
import { expect } from "chai";
import { Application, Clock, Controller, Get, Module, provide } from "@stagecraft/framework";
import { Database, DatabaseError } from "@stagecraft/framework/db";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { eventsOf } from "../../../support/events-of.js";
import { Gate } from "../../../support/gate.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

const LIMIT_MS = 1500;
const SLOW_MS = 250;
const COUNT = 40;

class ShopDatabase extends Database<object> {}

type Work = (db: ShopDatabase) => Promise<unknown>;
type Settled = readonly PromiseSettledResult<Awaited<ReturnType<ShopDatabase["run"]>>>[];

const numbers = (count = COUNT) => Array.from({ length: count }, (_, index) => index);

describe("reads of one request on PostgreSQL that wait together", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let app: TestApp;
  /** The limits of application and driver use a fake clock, because a busy machine may take any time. */
  let clock: FakeClock;
  let work: Work;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());
  const started = (statementTimeoutMs?: number) =>
    testApp(
      application(server.url, (db) => work(db), statementTimeoutMs),
      provide(Clock).useValue(clock),
    );
  beforeEach(async () => {
    clock = new FakeClock();
    app = await started();
  });
  afterEach(() => app[Symbol.asyncDispose]());

  /** The response to a request that runs `reads` at once. */
  async function settled(reads: (db: ShopDatabase) => readonly ReturnType<ShopDatabase["run"]>[]): Promise<Settled> {
    let results: Settled = [];
    work = async (db) => {
      results = await Promise.allSettled(reads(db));
    };
    await app.get("/work");
    return results;
  }

  async function stillRuns(): Promise<boolean> {
    const rows = await server.run(
      "select 1 from pg_stat_activity where state = 'active' and query like 'select pg_sleep(60%' and pid <> pg_backend_pid()",
    );
    return rows.length > 0;
  }

  it("each get their own rows, prepared or not", async () => {
    for (const text of ["select $1::int as n", "select $1::int as n", "select $1::int + 0 as n"]) {
      const results = await settled((db) => numbers().map((n) => db.run(text, [n])));
      expect(results.map(rowsOf)).to.deep.equal(numbers().map((n) => [{ n }]));
    }
  });

  it("fail without an effect on the other reads", async () => {
    const results = await settled((db) => numbers().map((n) => db.run("select 10 / $1::int as n", [n % 3])));
    for (const [n, result] of results.entries()) {
      if (n % 3 === 0) expect(reasonOf(result)).to.be.instanceOf(DatabaseError);
      else expect(rowsOf(result)).to.deep.equal([{ n: n % 3 === 1 ? 10 : 5 }]);
    }
  });

  it("fail without an effect on the others where a bind cannot be written", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const results = await settled((db) =>
      numbers().map((n) => db.run("select $1::jsonb as n", [n % 5 === 4 ? circular : { n }])),
    );
    for (const [n, result] of results.entries()) {
      if (n % 5 === 4) expect(reasonOf(result)).to.include({ code: "E_DB_BIND" });
      else expect(rowsOf(result)).to.deep.equal([{ n: { n } }]);
    }
    expect((await settled((db) => [db.run("select 1 as n")])).map(rowsOf)).to.deep.equal([[{ n: 1 }]]);
  });

  it("are not lost where one fails with the code of a lost connection, or has too few binds", async () => {
    await server.run(
      "create or replace function refused(code text) returns text language plpgsql as $$ begin raise 'no' using errcode = code; end $$",
    );
    for (const wrong of ["select refused('08006')", "select refused('57P01')", "select $1::text, $2::text"]) {
      const results = await settled((db) =>
        numbers().map((n) =>
          n % 5 === 3
            ? db.run(wrong, wrong.includes("$1") ? [n] : [])
            : db.run("select $1::int as n, pg_sleep(0.001)::text as slept", [n]),
        ),
      );
      for (const [n, result] of results.entries()) {
        if (n % 5 === 3) expect(reasonOf(result)).to.include({ kind: "other", status: 500 });
        else expect(rowsOf(result)).to.deep.equal([{ n, slept: "" }]);
      }
    }
  });

  it("fail each with the reason of the server, also where its statement was to be prepared", async () => {
    for (let round = 0; round < 3; round++) {
      const results = await settled((db) => numbers().map(() => db.run("select * from no_such_table")));
      for (const result of results)
        expect(String(reasonOf(result))).to.contain('relation "no_such_table" does not exist');
    }
  });

  it("succeed when a table has changed since the server prepared the plan", async () => {
    await server.run("create table items (id int); insert into items values (1)");
    const read = () => settled((db) => numbers().map(() => db.run("select * from items")));
    await read();
    await server.run("alter table items add column name text default 'pen'");

    expect((await read()).map(rowsOf)).to.deep.equal(numbers().map(() => [{ id: 1, name: "pen" }]));
  });

  it("keep their rows where one of them raises a notice, and one is a text of several statements", async () => {
    await server.run(`create function warned(n int) returns int language plpgsql as
      $$ begin raise notice 'notice of %', n; raise warning 'warning of %', n; return n; end $$`);
    const results = await settled((db) => numbers().map((n) => db.run(warningText(n))));

    expect(results.map(rowsOf)).to.deep.equal(numbers().map((n) => [{ n }]));
  });

  it("succeed where the time limit of the server ends one of them", async () => {
    await using limited = await started(3000);
    let results: Settled = [];
    work = async (db) => {
      const reads = numbers(20).map((n) => db.run(`select ${n} as n, pg_sleep(${n === 7 ? 30 : 0})::text as slept`));
      results = await Promise.allSettled(reads);
    };
    await limited.get("/work");

    for (const [n, result] of results.entries())
      if (n === 7) expect(reasonOf(result)).to.include({ code: "E_DB_TIMEOUT", engineCode: "57014" });
      else expect(rowsOf(result)).to.deep.equal([{ n, slept: "" }]);
    expect(results).to.have.length(20);
  });

  it("share no connection with a transaction that begins while they run", async () => {
    let inTransaction: unknown;
    let results: Settled = [];
    work = async (db) => {
      const read = (n: number) =>
        db.run(`select ${n} as n, pg_current_xact_id_if_assigned() is null as alone, pg_sleep(0.001)::text`);
      const before = numbers(20).map(read);
      const transaction = db.transaction(async () => {
        await db.run("create table begun (id int)");
        await Promise.all(numbers(20).map((n) => db.run("insert into begun values ($1)", [n])));
        inTransaction = await db.run("select count(*)::int as n from begun");
        throw new Error("undone");
      });
      const undone = rejectionOf(transaction);
      const after = numbers(20).map(read);
      results = await Promise.allSettled([...before, ...after]);
      await undone;
    };
    await app.get("/work");

    expect(inTransaction).to.deep.equal([{ n: 20 }]);
    expect(results.map((each) => rowsOf(each).map(({ n, alone }) => ({ n, alone })))).to.deep.equal(
      [...numbers(20), ...numbers(20)].map((n) => [{ n, alone: true }]),
    );
    expect(await server.run("select to_regclass('begun') as found")).to.deep.equal([{ found: null }]);
  });

  it("are slow only for their own time", async () => {
    const lock = "select pg_advisory_xact_lock(7)::text as locked";
    const [held, goOn] = [new Gate(), new Gate()];
    const other = new ShopDatabase(postgres(server.url));
    const holder = other.transaction(async () => {
      await other.run(lock);
      held.open();
      await goOn.passed;
    });
    await held.passed;
    let events: readonly string[] = [];
    work = async (db) => {
      events = await eventsOf(async () => {
        const reads = numbers(10).map((n) => db.run(n === 3 ? lock : `select ${n} as n`));
        await Promise.all(reads.slice(0, 3));
        clock.advance(SLOW_MS);
        goOn.open();
        await Promise.all(reads);
      });
    };
    await app.get("/work");
    await holder;
    await other.stop();

    const slow = events.filter((event) => event.includes("slow query"));
    expect(slow).to.have.length(1);
    expect(slow[0]).to.contain(lock);
  });

  it("all end with the request, and the next request gets a result", async () => {
    let reasons: string[] = [];
    work = async (db) => {
      const results = await Promise.allSettled(numbers().map(() => db.run("select pg_sleep(60) as slept")));
      reasons = results.map((result) => (reasonOf(result) as Error).name);
    };

    const answer = app.get("/work");
    await until(stillRuns);
    clock.advance(LIMIT_MS);

    expect((await answer).status).to.equal(408);
    await until(async () => !(await stillRuns()));
    await until(() => reasons.length > 0);
    expect(reasons).to.deep.equal(numbers().map(() => "DeadlineError"));
    const results = await settled((db) => [db.run("select 1 as n")]);
    expect(results.map(rowsOf)).to.deep.equal([[{ n: 1 }]]);
  });

  it("succeed if the application stops before their results", async () => {
    let results: Settled = [];
    let hasBegun = false;
    work = async (db) => {
      const reads = numbers(20).map((n) => db.run("select $1::int as n, pg_sleep(0.01)::text as slept", [n]));
      hasBegun = true;
      results = await Promise.allSettled(reads);
    };
    const answer = app.get("/work");
    await until(() => hasBegun);
    await app[Symbol.asyncDispose]();

    expect((await answer).status).to.equal(204);
    expect(results.map(rowsOf)).to.deep.equal(numbers(20).map((n) => [{ n, slept: "" }]));
    app = await started();
  });

  it("fail together when the server ends the connection, and the next request gets another one", async () => {
    const kill = "select pg_terminate_backend(pg_backend_pid())";
    const results = await settled((db) => numbers().map((n) => db.run(n === 5 ? kill : "select 1 as n")));

    const lost = results.filter(({ status }) => status === "rejected");
    expect(lost).to.have.length.greaterThan(1);
    for (const each of lost) expect(reasonOf(each)).to.include({ kind: "connection" });
    expect((await settled((db) => [db.run("select 1 as n")])).map(rowsOf)).to.deep.equal([[{ n: 1 }]]);
  });

  it("leave no statement behind that another request could wait for", async () => {
    const results = await Promise.all(
      numbers(20).map(async () => {
        const response = await app.get("/reads");
        return response.json<number[]>();
      }),
    );

    for (const result of results) expect(result).to.deep.equal(numbers());
  });
});

function warningText(n: number): string {
  return n % 4 === 1 ? `select 0 as n; select ${n} as n` : `select warned(${n}) as n`;
}

function rowsOf(result: Settled[number]) {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

function reasonOf(result: Settled[number]): unknown {
  if (result.status === "fulfilled") throw new Error("the read did not fail");
  return result.reason;
}

function application(url: string, work: Work, statementTimeoutMs = 30_000) {
  @Controller("/")
  class WorkController {
    constructor(private readonly db: ShopDatabase) {}

    @Get("/work")
    async work() {
      await work(this.db);
    }

    @Get("/reads")
    async reads() {
      const reads = Array.from({ length: COUNT }, (_, index) => this.db.run("select $1::int as n", [index]));
      return (await Promise.all(reads)).map(([row]) => row?.["n"]);
    }
  }

  const open = () =>
    new ShopDatabase(postgres({ url, statementTimeoutMs, pool: { max: 1, maxWaiting: 10_000 } }), {
      slowQueryMs: SLOW_MS,
    });

  @Module({ controllers: [WorkController], providers: [provide(ShopDatabase).useFactory(open)] })
  class WorkModule {}

  return Application.create(WorkModule).errorMapping().timeout(LIMIT_MS);
}
