/** A process of its own that works on jobs over BullMQ until its input ends, and has nothing left to do then. */
import { once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { FinalJobError, Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";

const failing = job("failing", undefined, { queue: "one" });

class Failing {
  @Handles(failing)
  fail(): never {
    throw new FinalJobError("it never works");
  }
}

const jobs = new Jobs({ store: new BullJobs({ url: process.env["REDIS"] ?? "" }), queues: ["one", "other"] });
jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [new Failing()] });
await jobs.start();
await jobs.beginWork("worker");
await jobs.dispatch(failing);
while ((await jobs.counts()).dead === 0) await new Promise((resolve) => setTimeout(resolve, 5));
console.log("works");
process.stdin.resume();
await once(process.stdin, "end");
// Without Redis it fails after some seconds, in which the connections are lost and tried again.
await jobs.counts().catch(() => {});
await jobs.endWork(500);
await jobs.stop();
console.log("stopped");
