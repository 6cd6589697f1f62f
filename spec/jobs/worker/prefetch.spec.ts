/** Jobs that a worker claims ahead. */
import { Handles, job, Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type { ClaimedJob } from "../../../lib/jobs/job-store.js";

const counted = job<number>("counted");
const COUNT = 2000;

class Counter {
  readonly seen: number[] = [];
  @Handles(counted)
  count(number: number): void {
    this.seen.push(number);
  }
}

describe("jobs that are claimed ahead", () => {
  it("run in their order, and the worker reads each of them only a few times, however many there are", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const claim = store.claim.bind(store);
    let looks = 0;
    const watched = (claimed: ClaimedJob): ClaimedJob => ({
      ...claimed,
      get id() {
        looks += 1;
        return claimed.id;
      },
    });
    store.claim = async (request) => (await claim(request)).map(watched);
    const counter = new Counter();
    const jobs = new Jobs({ store, concurrency: 1, prefetch: COUNT });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [counter] });
    const numbers = Array.from({ length: COUNT }, (_, number) => number);
    await jobs.dispatchAll(counted, numbers);
    await jobs.beginWork("worker");
    while (counter.seen.length < COUNT) await clock.advanceAsync(100);
    await jobs.endWork(0);

    expect(counter.seen).to.deep.equal(numbers);
    expect(looks).to.be.below(20 * COUNT);
  });
});
