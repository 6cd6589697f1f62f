import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { obeysQueue } from "@stagecraft/framework/testing/contracts";

const clock = new FakeClock();
const store = new MemoryJobs({ clock });
await obeysQueue((options) => new Jobs({ ...options, store }), {
  clock,
  store,
  pass: (ms) => clock.advanceAsync(ms),
});
console.log("works");
