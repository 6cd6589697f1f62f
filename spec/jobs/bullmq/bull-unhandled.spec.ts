/** Jobs in BullMQ whose name a process does not know, as in a rolling deploy. */
import { type Clock, SystemClock } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { type AnyJob, Handles, type Job, job, type JobContext, Jobs, schedule } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { Queue } from "bullmq";
import { expect } from "chai";
import { NewJobs } from "../../../lib/jobs/new-jobs.js";
import { createHandler } from "../../../lib/testing/contracts/queue-trial.js";
import { temporaryFolder } from "../../db/shop-database.js";
import { jobsDatabase, makeTables } from "../jobs-database.js";
import { eventsOf } from "../../support/events-of.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const COUNT = 20;
const DAY_MS = 86_400_000;
const GAUGE = 'framework_jobs_unhandled{job="orders.ship",queue="orders",subsystem="jobs"}';
const ship = job<number>("orders.ship", undefined, { queue: "orders", attempts: 1 });
const once = { queue: "orders", attempts: 1 };
const sweep = schedule("orders.sweep", "0 3 1 1 *", once);
const tell = job("on.order.placed.Newsletter.tell", undefined, once);
const DUE = Date.now();

class Shipping {
  readonly seen: number[] = [];
  readonly attempts = new Set<number>();

  @Handles(ship)
  ship(order: number, { attempt }: JobContext): void {
    this.seen.push(order);
    this.attempts.add(attempt);
  }
}

/** One process, of the version that knows the job if it has the handler. */
async function started(
  store: BullJobs,
  clock: Clock,
  handlers: readonly object[],
  metrics = new Metrics(),
): Promise<Jobs> {
  const jobs = new Jobs({ store, queues: ["orders"] });
  jobs.prepare({ name: "jobs", clock, metrics, instances: () => handlers });
  await jobs.start();
  await jobs.beginWork("worker");
  return jobs;
}

async function ended(jobs: Jobs): Promise<void> {
  await jobs.endWork(1000);
  await jobs.stop();
}

describe("a job name without a handler in a process over BullMQ", function () {
  this.timeout(60_000);
  let server: RedisServer;
  let queue: Queue;

  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    queue = new Queue("orders", { connection: { url: server.url }, prefix: "framework" });
  });

  after(async () => {
    await queue?.close();
    await server?.kill();
  });

  it("waits for a process with a handler without losing attempts, with a warning and a gauge", async () => {
    const shipping = new Shipping();
    const metrics = new Metrics();
    const facts: unknown[] = [];
    const events = await eventsOf(async () => {
      const older = await started(new BullJobs({ url: server.url }), new SystemClock(), [], metrics);
      await older.dispatchAll(
        ship,
        Array.from({ length: COUNT }, (_, order) => order),
      );
      await until(async () => (await queue.getDelayedCount()) === COUNT);
      await until(() => metrics.render().includes(GAUGE));
      facts.push(await older.counts());
      await ended(older);
    });
    const delays = (await queue.getDelayed()).map(({ delay }) => delay);
    const newer = await started(new BullJobs({ url: server.url }), new SystemClock(), [shipping]);
    await queue.promoteJobs();
    await until(() => shipping.seen.length >= COUNT);
    await ended(newer);

    expect(facts).to.deep.equal([{ waiting: COUNT, running: 0, dead: 0 }]);
    expect(Math.min(...delays)).to.be.within(20_000, 30_000);
    expect(events.filter((event) => event.includes("no handler for job"))).to.have.length(1);
    expect(new Set(shipping.seen).size).to.equal(COUNT);
    expect([...shipping.attempts]).to.deep.equal([1]);
  });

  for (const where of ["without a database", "with a database"])
    it(`keeps the ticks of new schedules and the calls of new queued listeners waiting without losing attempts, ${where}`, async () => {
      await using folder = await temporaryFolder();
      await using database = await jobsDatabase(sqlite(folder.file("jobs.db")), new SystemClock());
      await makeTables(database);
      const attempts: unknown[] = [];
      const keep = (_: unknown, { name, attempt }: JobContext): void => void attempts.push([name, attempt]);
      const handlers = [createHandler(sweep as AnyJob as Job, keep), createHandler(tell, keep)];
      const store = new BullJobs({ url: server.url, ...(where === "with a database" && { database }) });
      const older = await started(store, new SystemClock(), []);
      await older.dispatch(tell);
      const isFirst = await store.tick(
        sweep.name,
        DUE,
        await new NewJobs().create(sweep, { due: new Date(DUE).toISOString() }, {}),
      );
      await until(async () => (await queue.getDelayedCount()) === 2);
      const counts = await older.counts();
      await ended(older);
      const newer = await started(new BullJobs({ url: server.url }), new SystemClock(), handlers);
      await queue.promoteJobs();
      await until(() => attempts.length === 2);
      await ended(newer);

      expect([isFirst, counts]).to.deep.equal([true, { waiting: 2, running: 0, dead: 0 }]);
      expect(attempts).to.have.deep.members([
        [sweep.name, 1],
        [tell.name, 1],
      ]);
    });

  it("makes its job a dead letter after a day", async () => {
    const clock = new FakeClock();
    const older = await started(new BullJobs({ url: server.url }), clock, []);
    const { id } = await older.dispatch(ship, 7);
    const isDelayed = async (): Promise<boolean> => (await queue.getDelayedCount()) === 1;
    await until(isDelayed);
    clock.advance(DAY_MS - 1);
    await queue.promoteJobs();
    await until(async () => (await isDelayed()) && (await queue.getActiveCount()) === 0);
    const deadBefore = await older.dead();
    clock.advance(1);
    await queue.promoteJobs();
    await until(async () => (await older.dead()).length > 0);
    const dead = await older.dead();
    await ended(older);

    expect(deadBefore).to.deep.equal([]);
    expect(dead).to.have.length(1);
    expect(dead[0]).to.include({ id, attempt: 0, reason: "E_JOB_UNKNOWN no process has handled this name for a day" });
  });
});
