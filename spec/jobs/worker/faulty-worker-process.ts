/** A worker process over PostgreSQL. Its first job ends at SIGUSR2, and prints when it begins and ends; its second one kills the process. */
import { once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, Handles, job, type JobContext, Jobs } from "@stagecraft/framework/jobs";
import { installLogging, Metrics } from "@stagecraft/framework/observe";
import { jobsDatabase } from "../jobs-database.js";

const patient = job("patient");
const poisoned = job("poisoned");

class Worker {
  @Handles(patient)
  async wait(_: unknown, { token }: JobContext): Promise<void> {
    const signal = once(process, "SIGUSR2");
    console.log(`begins with ${token}`);
    await signal;
    console.log(`ends with ${token}`);
  }

  @Handles(poisoned)
  die(): void {
    process.kill(process.pid, "SIGKILL");
  }
}

installLogging("warn");
const clock = new SystemClock();
const database = await jobsDatabase(postgres({ url: process.env["DATABASE"] ?? "" }), clock);
const jobs = new Jobs({ store: new DatabaseJobs(database) });
jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [new Worker()] });
await jobs.beginWork("worker");
