/**
 * A worker process of the killing run: works on the jobs of the run, and appends to `JOBS_JOURNAL` when a run begins and when it ends. What
 * is written survives the death of the process. Version 2 of the program knows a name more than version 1.
 */
import { appendFileSync } from "node:fs";
import { Application, provide } from "@stagecraft/framework";
import { Handles, job, type JobContext, Jobs } from "@stagecraft/framework/jobs";
import { installLogging } from "@stagecraft/framework/observe";
import { KillDatabase, killDatabase, killStore } from "./jobs-engine.js";

interface Counted {
  readonly number: number;
  readonly ms: number;
}

export const countedJob = job<Counted>("kill.counted");
/** Version 1 has no handler for it. */
export const newJob = job<Counted>("kill.new");

class Counter {
  @Handles(countedJob)
  async count({ number, ms }: Counted, { token }: JobContext): Promise<void> {
    note("B", number, token);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    note("E", number, token);
  }
}

class NewCounter extends Counter {
  @Handles(newJob)
  countNew(counted: Counted, ctx: JobContext): Promise<void> {
    return this.count(counted, ctx);
  }
}

function note(what: "B" | "E", number: number, token: number): void {
  appendFileSync(process.env["JOBS_JOURNAL"] ?? "", `${what} ${number} ${token} ${process.pid} ${Date.now()}\n`);
}

if (process.env["JOBS_WORKER"] !== undefined) {
  installLogging("warn,framework=warn");
  const database = killDatabase(process.env);
  const store = killStore(process.env, database);
  const jobs = provide(Jobs).useFactory(() => new Jobs({ store, concurrency: 8, prefetch: 16 }));
  const application = Application.create().provide(process.env["JOBS_WORKER"] === "1" ? Counter : NewCounter, jobs);
  if (database !== undefined) application.provide(provide(KillDatabase).useFactory(() => database));
  await application.build().work();
}
