/** `NOTIFY` of PostgreSQL: who hears of committed jobs, how often, and what remains when the connection that listens is lost. */
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Client } from "pg";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { until } from "../../../support/until.js";
import { type JobsDatabase, jobsDatabase, makeTables } from "../../jobs-database.js";

const counted = job<number>("counted");
const WRITERS = 50;

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

/** `Jobs` of a process of its own. */
function jobsOn(db: JobsDatabase, clock: FakeClock, handlers: readonly object[] = []): Jobs {
  const jobs = new Jobs({ store: new DatabaseJobs(db, { notify: true }) });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => handlers });
  return jobs;
}

/** Counts the notifications, past the framework. */
async function heardBy(server: PostgresServer): Promise<{ count: number; end(): Promise<void> }> {
  const client = new Client(server.url);
  await client.connect();
  await client.query("LISTEN framework_jobs");
  const heard = { count: 0, end: () => client.end() };
  client.on("notification", () => (heard.count += 1));
  return heard;
}

/** Advances the clock no faster than real time until the condition holds. */
function passing(clock: FakeClock, condition: () => boolean): Promise<void> {
  return until(async () => {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    if (!condition()) clock.advance(STEP_MS);
    return condition();
  });
}

const listening = "SELECT pid FROM pg_stat_activity WHERE query = 'listen framework_jobs'";

describe("DatabaseJobs that notify", function () {
  this.timeout(60_000);
  this.slow(3000);
  let server: PostgresServer;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
  });
  after(() => server[Symbol.asyncDispose]());

  it("wake the worker of another process at the commit, between two polls", async () => {
    const clock = new FakeClock();
    await using mine = await jobsDatabase(postgres({ url: server.url }), clock);
    await using other = await jobsDatabase(postgres({ url: server.url }), clock);
    await makeTables(mine);
    const counter = new Counter();
    const [worker, web] = [jobsOn(other, clock, [counter]), jobsOn(mine, clock)];
    await worker.beginWork("worker");
    await until(async () => (await server.run(listening)).length === 1);
    // The wake-up of a new connection, which may have missed one.
    clock.advance(50);
    const heard = await heardBy(server);
    await mine.transaction(async () => {
      await web.dispatch(counted, 1);
      await web.dispatch(counted, 2);
    });
    await until(() => heard.count > 0);
    await until(async () => {
      // The worker may hear it seconds later than this process.
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      // Far less than a poll takes.
      if (clock.now() < START_MS + 400) clock.advance(1);
      return counter.seen.length === 2;
    });
    await heard.end();
    await worker.endWork(1000);

    expect(clock.now()).to.be.below(START_MS + 500);
    await until(async () => (await server.run(listening)).length === 0);
  });

  it("send one notification each 100 ms for the transactions of fifty writers, and none after a rollback", async () => {
    const clock = new FakeClock();
    await using db = await jobsDatabase(postgres({ url: server.url }), clock);
    await makeTables(db);
    const jobs = jobsOn(db, clock);
    const heard = await heardBy(server);
    const rolledBack = db.transaction(async () => {
      await jobs.dispatch(counted, 0);
      throw new Error("rolled back");
    });
    expect(await rolledBack.catch(String)).to.equal("Error: rolled back");
    clock.advance(1000);
    const write = (number: number): Promise<unknown> => db.transaction(() => jobs.dispatch(counted, number));
    await Promise.all(Array.from({ length: WRITERS }, (_, number) => write(number)));
    await until(() => heard.count > 0);
    expect(heard.count).to.equal(1);
    clock.advance(100);
    await until(() => heard.count > 1);
    // What was sent before this has arrived before it.
    await server.run("NOTIFY framework_jobs");
    await until(() => heard.count > 2);
    await heard.end();

    expect(heard.count).to.equal(3);
    expect((await jobs.counts()).waiting).to.equal(WRITERS);
  });

  it("listen again after the connection was lost, and poll once for the missed jobs", async () => {
    const clock = new FakeClock();
    await using db = await jobsDatabase(postgres({ url: server.url, pool: PATIENT }), clock);
    const store = new DatabaseJobs(db, { notify: true });
    store.prepare({ clock });
    let wakes = 0;
    const end = store.onWake(() => (wakes += 1));
    const woken = (times: number): Promise<void> => passing(clock, () => wakes >= times);
    await woken(1);
    await server.run(listening.replace("pid", "pg_terminate_backend(pid)"));
    await until(async () => (await server.run(listening)).length === 0);
    await woken(2);
    store.announce();
    await woken(3);
    end();

    await until(async () => (await server.run(listening)).length === 0);
  });

  it("open another connection when the server has vanished without closing the first one", async () => {
    const clock = new FakeClock();
    await using db = await jobsDatabase(postgres({ url: server.url, pool: PATIENT }), clock);
    const store = new DatabaseJobs(db, { notify: true });
    store.prepare({ clock });
    let wakes = 0;
    const end = store.onWake(() => (wakes += 1));
    await passing(clock, () => wakes === 1);
    const [before] = await server.run(listening);
    const began = clock.now();
    server.pause();
    clock.advance(20_000);
    await until(() => {
      clock.advance(100);
      return clock.now() > began + 27_000;
    });
    server.resume();
    await passing(clock, () => wakes === 2);
    end();

    expect(before).to.have.property("pid").that.is.a("number");
    await until(async () => (await server.run(listening)).length === 0);
  });
});

const START_MS = new FakeClock().now();
const STEP_MS = 20;
/** The time of these databases may pass faster than a busy machine responds. */
const PATIENT = { waitMs: 2_000_000_000, connectMs: 2_000_000_000 };
