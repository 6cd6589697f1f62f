/** A process of its own that works on jobs over BullMQ until its input ends, and has nothing left to do then. */
import { once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";

const jobs = new Jobs({ store: new BullJobs({ url: process.env["REDIS"] ?? "" }), queues: ["one", "other"] });
jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
await jobs.start();
await jobs.beginWork("worker");
await jobs.dispatch(job("unhandled", undefined, { queue: "one" }));
while ((await jobs.counts()).dead === 0) await new Promise((resolve) => setTimeout(resolve, 5));
console.log("works");
process.stdin.resume();
await once(process.stdin, "end");
// Without Redis it fails after some seconds, in which the connections are lost and tried again.
await jobs.counts().catch(() => {});
await jobs.endWork(500);
await jobs.stop();
console.log("stopped");
