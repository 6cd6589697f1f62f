import { Jobs, job, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysQueue } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { rejectionOf } from "../../../support/rejection-of.js";
import { preparedJobs } from "../../prepared-jobs.js";

describe("MemoryJobs", () => {
  for (const [title, stoppedMs] of [
    ["obeys the contract of a queue", 0],
    ["obeys the contract in a process that is stopped for seconds while time passes", 2000],
  ] as const)
    it(title, () => {
      const clock = new FakeClock();
      const store = new MemoryJobs({ clock });
      return obeysQueue((options) => new Jobs({ ...options, store }), {
        clock,
        store,
        pass: (ms) => clock.advanceAsync(ms + stoppedMs),
      });
    });

  it("refuses a dispatch above maxJobs", async () => {
    const { jobs } = preparedJobs([], { store: new MemoryJobs({ maxJobs: 1 }) });
    const tick = job("tick");
    await jobs.dispatch(tick);

    expect(await rejectionOf(jobs.dispatch(tick))).to.include({ code: "E_JOBS_FULL", status: 503 });
  });
});
