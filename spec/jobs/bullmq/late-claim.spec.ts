/** The response to a claim that arrives after the lock of the job has ended, as after an outage of Redis. */
import type { Job as BullJob } from "bullmq";
import { SystemClock } from "@stagecraft/framework";
import { Handles, job } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import type { BullData } from "../../../lib/jobs/bullmq/bull-record.js";
import { BullWorker } from "../../../lib/jobs/bullmq/bull-worker.js";
import { JobHandlers } from "../../../lib/jobs/job-handlers.js";
import { JobReports } from "../../../lib/jobs/job-reports.js";
import { Operations } from "../../../lib/lifecycle/operations.js";

const work = job("late.work");
type Run = (bull: BullJob<BullData>, token: string) => Promise<void>;

class Handler {
  runs = 0;

  @Handles(work)
  run(): void {
    this.runs += 1;
  }
}

/** What BullMQ calls for each job that it has claimed. */
async function runOf(handler: Handler): Promise<Run> {
  const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
  const tools = {
    handlers: JobHandlers.of([handler], []),
    operations: new Operations({ target: "framework::jobs", span: "framework.job.handle" }, host),
    clock: host.clock,
  };
  const opened: Run[] = [];
  const place = {
    queues: async () => ["default"],
    cancelled: async () => [],
    open: (_queue: string, run: Run) => {
      opened.push(run);
      return { worker: { on: () => undefined, close: async () => undefined }, disconnect: () => undefined };
    },
  };
  const worker = new BullWorker(
    // BullMQ itself is not asked.
    place as unknown as ConstructorParameters<typeof BullWorker>[0],
    { concurrency: 1, prefetch: 0, queues: ["default"] },
    tools,
    new JobReports(host),
  );
  await worker.start();
  await worker.stop(0);
  const [run] = opened;
  if (run === undefined) throw new Error("no queue was opened");
  return run;
}

function claimed(ageMs: number, extended: number): BullJob<BullData> {
  const claim = {
    id: "1",
    name: "late.work",
    queueName: "default",
    data: { p: "null", m: 5, o: 0 },
    attemptsStarted: 1,
    processedOn: Date.now() - ageMs,
    extendLock: async () => extended,
  };
  return claim as unknown as BullJob<BullData>;
}

describe("a job that BullMQ claims", () => {
  const cases = [
    ["just now", 0, 0, 1],
    ["before an outage in which its lock has ended", 40_000, 0, 0],
    ["before an outage that its lock has outlived", 40_000, 1, 1],
  ] as const;

  for (const [when, ageMs, extended, runs] of cases)
    it(`${runs === 1 ? "runs" : "does not run"} if the response to its claim came ${when}`, async () => {
      const handler = new Handler();
      const run = await runOf(handler);

      await run(claimed(ageMs, extended), "token");

      expect(handler.runs).to.equal(runs);
    });
});
