/** The clock of a store that jumps a year ahead and back: schedules go on, and the jobs of a dead worker are taken. */
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, job, type JobStore, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { temporaryFolder } from "../db/shop-database.js";
import { jobsDatabase, makeTables, passSlowly } from "./jobs-database.js";
import { preparedJobs } from "./prepared-jobs.js";
import { Sweeper } from "./sweeper.js";

const unhandled = job("unhandled");
const TICKS = ["2026-01-01T00:01", "2027-01-01T00:00", "2027-01-01T00:01", "2026-01-01T00:02", "2026-01-01T00:03"];

const at = (text: string): number => Date.parse(text);

/** Two processes over one store, the second of which begins after the jump back. */
async function ticksOf(store: JobStore, clock: FakeClock, pass: (ms: number) => Promise<void>) {
  const sweeper = new Sweeper();
  const first = preparedJobs([sweeper], { store }, clock).jobs;
  const second = preparedJobs([sweeper], { store }, clock).jobs;
  clock.setNow(at("2026-01-01T00:00:55Z"));
  await first.beginWork("worker");
  await pass(10_000);
  clock.setNow(at("2027-01-01T00:00:30Z"));
  await pass(40_000);
  clock.setNow(at("2026-01-01T00:01:10Z"));
  await second.beginWork("worker");
  await pass(120_000);
  for (const each of [first, second]) await each.endWork(0);
  return sweeper.ticks;
}

/** The jobs that are taken at the jump back, and half a minute later. */
async function takenFromDead(store: JobStore, clock: FakeClock): Promise<readonly number[]> {
  clock.setNow(at("2027-01-01T00:00Z"));
  await preparedJobs([], { store }, clock).jobs.dispatch(unhandled);
  await store.heartbeat({ id: "dead", names: [], queues: undefined });
  await store.claim({ worker: "dead", queues: undefined, limit: 1, leaseMs: 300_000 });
  clock.setNow(at("2026-01-01T00:00Z"));
  const atOnce = await store.reap(30_000);
  clock.advance(31_000);
  return [atOnce.length, (await store.reap(30_000)).length];
}

describe("a clock that jumps a year ahead and back", function () {
  this.slow(8000);

  it("suppresses no schedule in memory, and leaves no job claimed by a dead worker", async () => {
    const clock = new FakeClock();
    const ticks = await ticksOf(new MemoryJobs({ clock }), clock, (ms) => clock.advanceAsync(ms));

    expect(ticks).to.deep.equal(TICKS);
    expect(await takenFromDead(new MemoryJobs({ clock }), clock)).to.deep.equal([0, 1]);
  });

  it("suppresses no schedule in a database, and leaves no job claimed by a dead worker", async () => {
    await using folder = await temporaryFolder();
    const clock = new FakeClock();
    await using db = await jobsDatabase(sqlite(folder.file("jobs.db")), clock);
    await makeTables(db);
    const store = new DatabaseJobs(db);
    store.prepare({ clock });
    const ticks = await ticksOf(store, clock, (ms) => passSlowly(clock, ms));

    expect(ticks).to.deep.equal(TICKS);
    expect(await takenFromDead(store, clock)).to.deep.equal([0, 1]);
  });
});
