/** The most jobs of one queue at once in one process. */
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job, type JobStore, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createHandler } from "../../lib/testing/contracts/queue-trial.js";
import { temporaryFolder } from "../db/shop-database.js";
import { jobsDatabase, makeTables, passSlowly } from "./jobs-database.js";
import { preparedJobs } from "./prepared-jobs.js";

const slow = job("slow", undefined, { queue: "slow" });
const fast = job("fast");
const JOBS = 6;
const LIMIT = 2;
const RUN_MS = 300;

/** The most slow jobs at once, the runs of each kind after a second, and after all. */
async function limitedRuns(store: JobStore, clock: FakeClock, pass: (ms: number) => Promise<void>) {
  const seen = { now: 0, most: 0, slow: 0, fast: 0 };
  const handlers = [
    createHandler(slow, async () => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, RUN_MS));
      seen.now -= 1;
      seen.slow += 1;
    }),
    createHandler(fast, () => void (seen.fast += 1)),
  ];
  const { jobs } = preparedJobs(handlers, { store, concurrency: 10, queueConcurrency: { slow: LIMIT } }, clock);
  for (let each = 0; each < JOBS; each++) await jobs.dispatch(slow, undefined, { priority: each % 3 });
  for (let each = 0; each < JOBS; each++) await jobs.dispatch(fast, undefined, { priority: 50 });
  await jobs.beginWork("worker");
  await pass(RUN_MS / 2);
  const early = { slow: seen.now, fast: seen.fast };
  // As long as three runs, one after the other, and not as long as the polls between them would be.
  await pass(RUN_MS * 3);
  const late = { slow: seen.slow, fast: seen.fast };
  await jobs.endWork(0);
  return { most: seen.most, early, late };
}

const EXPECTED = { most: LIMIT, early: { slow: LIMIT, fast: JOBS }, late: { slow: JOBS, fast: JOBS } };

describe("the concurrency of a queue", () => {
  it("bounds the running jobs in memory, leaves the other places to other queues, and fills a free place at once", async () => {
    const clock = new FakeClock();
    const pass = (ms: number) => clock.advanceAsync(ms);
    expect(await limitedRuns(new MemoryJobs({ clock }), clock, pass)).to.deep.equal(EXPECTED);
  });

  it("bounds the running jobs in a database", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(db);
    const store = new DatabaseJobs(db);
    store.prepare({ clock });
    expect(await limitedRuns(store, clock, (ms) => passSlowly(clock, ms))).to.deep.equal(EXPECTED);
  });
});
