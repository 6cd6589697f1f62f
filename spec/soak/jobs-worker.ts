/**
 * A worker process of the killing run: works on the jobs in the SQLite file `JOBS_FILE`, and appends to `JOBS_JOURNAL` when a run begins and
 * when it ends. What is written survives the death of the process.
 */
import { appendFileSync } from "node:fs";
import { Application, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, Handles, job, type JobContext, Jobs } from "@stagecraft/framework/jobs";
import { installLogging } from "@stagecraft/framework/observe";

export const countedJob = job<{ number: number; ms: number }>("kill.counted");

export class KillDatabase extends Database<Record<string, never>> {}

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

export function killDatabase(): KillDatabase {
  return new KillDatabase(sqlite(process.env["JOBS_FILE"] ?? "", { waitMs: 20_000 }));
}

if (process.env["JOBS_WORKER"] === "1") {
  installLogging("warn,framework=warn");
  const database = provide(KillDatabase).useFactory(killDatabase);
  const jobs = provide(Jobs).useFactory(
    (resolve) => new Jobs({ store: new DatabaseJobs(resolve(KillDatabase)), concurrency: 8, prefetch: 16 }),
  );
  await Application.create().provide(Counter, database, jobs).build().work();
}
