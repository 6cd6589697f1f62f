/** Requests that end while their queries run on a real PostgreSQL, or while they wait for a connection. */
import { expect } from "chai";
import { Application, Clock, type Context, Controller, Get, Module, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";

const RUNNING = "select query from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()";
const LIMIT_MS = 1000;

class SleepDatabase extends Database<object> {}

describe("a query on PostgreSQL whose request ends", function () {
  this.timeout(60_000);
  let server: PostgresServer;
  let app: TestApp;
  /** The limits of application and driver use a fake clock, because a busy machine may take any time. */
  let clock: FakeClock;
  /** The errors and results of the handlers. */
  let seen: string[];

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    seen = [];
    clock = new FakeClock();
    app = await testApp(application(server.url, seen), provide(Clock).useValue(clock));
  });
  afterEach(() => app[Symbol.asyncDispose]());

  /** The seconds that the server sleeps for queries that run now. */
  async function sleeps(): Promise<string[]> {
    const rows = await server.run(RUNNING);
    return rows.flatMap(({ query }) => /pg_sleep\((\d+)\)/.exec(String(query))?.[1] ?? []);
  }

  function visit(path: string) {
    const leaving = new AbortController();
    const left = rejectionOf(fetch(`${app.url}${path}`, { signal: leaving.signal }));
    return {
      leave: async () => {
        leaving.abort();
        await left;
      },
    };
  }

  it("is cancelled on the server when the client leaves", async () => {
    const visitor = visit("/sleep/31");
    await until(async () => (await sleeps()).includes("31"));

    await visitor.leave();

    await until(async () => !(await sleeps()).includes("31"));
    // The query settles when its connection can be used again.
    await until(() => seen.length > 1);
    expect(seen).to.deep.equal(["31 begins", "31 ends: ClientGoneError"]);
  });

  it("is cancelled on the server at the time limit of the request", async () => {
    const answer = app.get("/sleep/32");
    await until(async () => (await sleeps()).includes("32"));
    clock.advance(LIMIT_MS);

    expect((await answer).status).to.equal(408);
    await until(async () => !(await sleeps()).includes("32"));
    await until(() => seen.length > 1);
    expect(seen).to.deep.equal(["32 begins", "32 ends: DeadlineError"]);
  });

  it("is never sent if it still waits for a connection, and the next caller gets the connection", async () => {
    const holder = visit("/sleep/33");
    await until(async () => (await sleeps()).includes("33"));
    const waiter = visit("/sleep/34");
    await until(() => seen.includes("34 begins"));

    await waiter.leave();
    await until(() => seen.includes("34 ends: ClientGoneError"));
    expect(await sleeps()).to.deep.equal(["33"]);
    await holder.leave();

    expect((await app.get("/sleep/0")).status).to.equal(204);
    expect(seen.at(-1)).to.equal("0 ends");
  });
});

/** One connection, so that a second query waits. */
function application(url: string, seen: string[]) {
  @Controller("/sleep")
  class SleepController {
    constructor(private readonly db: SleepDatabase) {}

    @Get("/{seconds}")
    async sleep({ params: { seconds } }: Context<"seconds">) {
      seen.push(`${seconds} begins`);
      try {
        await this.db.run(`select pg_sleep(${Number(seconds)})`);
        seen.push(`${seconds} ends`);
      } catch (error) {
        seen.push(`${seconds} ends: ${(error as Error).name}`);
        throw error;
      }
    }
  }

  @Module({
    controllers: [SleepController],
    providers: [provide(SleepDatabase).useFactory(() => new SleepDatabase(postgres({ url, pool: { max: 1 } })))],
  })
  class SleepModule {}

  return Application.create(SleepModule).errorMapping().timeout(LIMIT_MS);
}
