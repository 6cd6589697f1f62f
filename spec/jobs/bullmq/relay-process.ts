/** A process of its own that dispatches one job over BullMQ with a database when it gets SIGUSR2, and then lives on. */
import { SystemClock } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { jobsDatabase } from "../jobs-database.js";

const fragile = job<number>("counted", undefined, { attempts: 1 });
const database = await jobsDatabase(sqlite(process.env["DATABASE"] ?? ""), new SystemClock());
const jobs = new Jobs({ store: new BullJobs({ url: process.env["REDIS"] ?? "", database }) });
jobs.prepare({ name: "jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
await jobs.start();
process.on("SIGUSR2", () => void jobs.dispatch(fragile, 7));
console.log("started");
