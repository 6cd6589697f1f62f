/** Ticks of schedules that the store refuses at first. */
import {
  Every,
  Handles,
  job,
  type Jobs,
  type JobStore,
  MemoryJobs,
  schedule,
  type ScheduledTick,
} from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { preparedJobs } from "../prepared-jobs.js";
import { Sweeper } from "../sweeper.js";

const MINUTE_MS = 60_000;
const later = job("later");

const at = (text: string): number => Date.parse(text);

class Reporter {
  readonly ticks: string[] = [];
  @Every(schedule("links.report", "* * * * *"))
  report({ due }: ScheduledTick): void {
    this.ticks.push(due.slice(0, 16));
  }
  @Handles(later)
  run(): void {}
}

async function begin(store: JobStore, clock: FakeClock, ...handlers: readonly object[]): Promise<Jobs> {
  const { jobs } = preparedJobs(handlers, { store }, clock);
  await jobs.beginWork("worker");
  return jobs;
}

describe("a tick whose job the store refuses", () => {
  it("is dispatched when the queue has room again", async () => {
    const clock = new FakeClock(at("2026-01-01T00:00:50Z"));
    const reporter = new Reporter();
    const jobs = await begin(new MemoryJobs({ clock, maxJobs: 1 }), clock, reporter);
    await clock.advanceAsync(1000);
    await jobs.dispatch(later, undefined, { delay: 30_000 });
    await clock.advanceAsync(20_000);
    expect(reporter.ticks).to.deep.equal([]);
    await clock.advanceAsync(20_000);
    await jobs.endWork(0);

    expect(reporter.ticks).to.deep.equal(["2026-01-01T00:01"]);
  });

  it("does not delay the ticks of another schedule", async () => {
    const clock = new FakeClock(at("2026-01-01T00:00:50Z"));
    const store = new MemoryJobs({ clock });
    const tick = store.tick.bind(store);
    store.tick = (name, due, made) =>
      name === "links.sweep" ? Promise.reject(new Error("refused")) : tick(name, due, made);
    const reporter = new Reporter();
    const jobs = await begin(store, clock, new Sweeper(), reporter);
    await clock.advanceAsync(MINUTE_MS);
    await jobs.endWork(0);

    expect(reporter.ticks).to.deep.equal(["2026-01-01T00:01"]);
  });
});
