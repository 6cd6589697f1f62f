/**
 * A worker process of the killing run: works on the jobs in the database of the run, and appends to `JOBS_JOURNAL` when a run begins and when
 * it ends. What is written survives the death of the process.
 */
import { appendFileSync } from "node:fs";
import { Application, provide } from "@stagecraft/framework";
import { DatabaseJobs, Handles, job, type JobContext, Jobs } from "@stagecraft/framework/jobs";
import { installLogging } from "@stagecraft/framework/observe";
import { KillDatabase, killDatabase } from "./jobs-engine.js";

export const countedJob = job<{ number: number; ms: number }>("kill.counted");

class Counter {
  @Handles(countedJob)
  async count({ number, ms }: { number: number; ms: number }, { token }: JobContext): Promise<void> {
    note("B", number, token);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    note("E", number, token);
  }
}

function note(what: "B" | "E", number: number, token: number): void {
  appendFileSync(process.env["JOBS_JOURNAL"] ?? "", `${what} ${number} ${token} ${process.pid} ${Date.now()}\n`);
}

if (process.env["JOBS_WORKER"] === "1") {
  installLogging("warn,framework=warn");
  const database = provide(KillDatabase).useFactory(() => killDatabase(process.env));
  const jobs = provide(Jobs).useFactory(
    (resolve) => new Jobs({ store: new DatabaseJobs(resolve(KillDatabase)), concurrency: 8, prefetch: 16 }),
  );
  await Application.create().provide(Counter, database, jobs).build().work();
}
