/** A process of its own that dispatches jobs with one key over BullMQ until it is killed, and prints each that is confirmed. */
import { SystemClock } from "@stagecraft/framework";
import { job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";

const keyed = job<string>("keyed");
const jobs = new Jobs({ store: new BullJobs({ url: process.env["REDIS"] ?? "" }) });
jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
await jobs.start();
for (let number = 0; ; number++) {
  const { outcome } = await jobs.dispatch(keyed, `child ${number}`, { key: "k", delay: 3_600_000 - number });
  console.log(`${outcome} ${number}`);
}
