/** The promises of `obeysQueue` that an application sees. They apply to every store and engine. */
import { FrameworkError } from "../../errors/framework-error.js";
import { inWorkScope, type WorkScope } from "../../lifecycle/work-scope.js";
import { Job } from "../../jobs/job.js";
import { FinalJobError } from "../../jobs/job-context.js";
import type { Schema } from "../../runtime/standard-schema.js";
import { RequestId } from "../../observe/request-id.js";
import { TraceContext } from "../../observe/trace-context.js";
import type { ContractPromise } from "./contract.js";
import { createHandler, type QueueTrial } from "./queue-trial.js";

export type QueuePromise = ContractPromise<QueueTrial>;

const MANY = 60;
/** The store may round its times, and measure them with another clock. */
const CLOCKS_DIFFER_MS = 50;
/** The largest payload, with characters of two bytes: 64 KiB of JSON with the quotes. */
const MAX_PAYLOAD = "\u00e4".repeat(32_767);

/** Accepts only this value. */
function acceptOnly(wanted: unknown): Schema<unknown, unknown> {
  const validate = (value: unknown) =>
    JSON.stringify(value) === JSON.stringify(wanted) ? { value } : { issues: [{ message: "wrong" }] };
  return { "~standard": { version: 1, vendor: "contract", validate } };
}

export function waitForAbort(gate: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gate.aborted) resolve();
    else gate.addEventListener("abort", () => resolve());
  });
}

/** Whether fewer than `ms` milliseconds have passed. False after a pause of the process, so the caller then skips its check. */
export function isBefore(trial: QueueTrial, startedAt: number, ms: number): boolean {
  return trial.options.clock.monotonic() - startedAt < ms - CLOCKS_DIFFER_MS;
}

export const queuePromises: readonly QueuePromise[] = [
  [
    "a job runs once, with its payload as JSON",
    async (trial) => {
      const seen: unknown[] = [];
      const job = trial.job("once");
      const jobs = await trial.startJobs([createHandler(job, (payload, ctx) => void seen.push(payload, ctx.attempt))]);
      const payload = { text: 'a "quoted" \\ text \u{1F600}', list: [1, null, true], at: new Date(0) };
      const { outcome } = await jobs.dispatch(job, payload);
      trial.equal(outcome, "created", "the outcome");
      await trial.until("the run", () => seen.length > 0);
      await trial.options.pass(2500);
      trial.equal(seen, [{ ...payload, at: "1970-01-01T00:00:00.000Z" }, 1], "what the handler got");
    },
  ],
  [
    "a payload of 64 KiB arrives unchanged, and one byte more is refused",
    async (trial) => {
      const seen: unknown[] = [];
      const job = trial.job<string>("large");
      const jobs = await trial.startJobs([createHandler(job, (payload) => void seen.push(payload === MAX_PAYLOAD))]);
      const refused = await jobs.dispatch(job, `${MAX_PAYLOAD}x`).catch((error: unknown) => error);
      await jobs.dispatch(job, MAX_PAYLOAD);
      await trial.until("the run", () => seen.length > 0);
      trial.equal(refused instanceof FrameworkError && refused.code, "E_JOB_PAYLOAD", "the code of the refusal");
      trial.equal(seen, [true], "whether the payload is unchanged");
    },
  ],
  [
    "jobs run by priority, and jobs of one priority in the order of their dispatch",
    async (trial) => {
      const seen: unknown[] = [];
      const job = trial.job<string>("ordered");
      const dispatcher = await trial.dispatcher();
      await dispatcher.dispatch(job, "late", { priority: 100 });
      await dispatcher.dispatch(job, "middle 1", { priority: 50 });
      await dispatcher.dispatch(job, "middle 2", { priority: 50 });
      await dispatcher.dispatch(job, "first");
      await trial.startJobs([createHandler(job, (payload) => void seen.push(payload))], { concurrency: 1 });
      await trial.until("the runs", () => seen.length === 4);
      trial.equal(seen, ["first", "middle 1", "middle 2", "late"], "the order");
    },
  ],
  [
    "a delayed job runs after its delay",
    async (trial) => {
      const job = trial.job<undefined>("delayed");
      let runs = 0;
      const jobs = await trial.startJobs([createHandler(job, () => void (runs += 1))]);
      const dispatchedAt = trial.options.clock.monotonic();
      await jobs.dispatch(job, undefined, { delay: 2000 });
      await trial.options.pass(1000);
      if (isBefore(trial, dispatchedAt, 2000)) trial.equal(runs, 0, "the number of runs before the delay has passed");
      await trial.until("the run", () => runs === 1);
    },
  ],
  [
    "a job that fails runs again after a second, and its token grows",
    async (trial) => {
      const runs: { attempt: number; token: number }[] = [];
      let failedAt = 0;
      const job = trial.job<undefined>("retried");
      const handler = createHandler(job, (_, { attempt, token }) => {
        runs.push({ attempt, token });
        if (attempt > 1) return;
        failedAt = trial.options.clock.monotonic();
        throw new Error("not yet");
      });
      const jobs = await trial.startJobs([handler]);
      await jobs.dispatch(job);
      await trial.until("the first run", () => runs.length > 0);
      await trial.options.pass(500);
      if (isBefore(trial, failedAt, 1000)) trial.equal(runs.length, 1, "the number of runs before a second has passed");
      await trial.until("the second run", () => runs.length === 2);
      trial.equal(
        runs.map(({ attempt }) => attempt),
        [1, 2],
        "the attempts",
      );
      trial.equal((runs[1]?.token ?? 0) > (runs[0]?.token ?? 0), true, "whether the token grows");
    },
  ],
  [
    "a job goes to the dead letters with the reason of its last failure, and runs again when it is retried",
    async (trial) => {
      const job = trial.job<undefined>("dying", { attempts: 2 });
      let runs = 0;
      const handler = createHandler(job, () => {
        runs += 1;
        if (runs <= 2) throw new Error(`failure ${runs}`);
      });
      const jobs = await trial.startJobs([handler]);
      const { id } = await jobs.dispatch(job);
      const dead = async () => (await jobs.dead(1000)).find((each) => each.id === id);
      await trial.until("the death", async () => (await dead()) !== undefined);
      const { name, queue, attempt, reason } = (await dead()) ?? {};
      trial.equal({ name, queue, attempt }, { name: job.name, queue: trial.queue, attempt: 2 }, "the dead letter");
      trial.equal(reason, "failure 2", "its reason");
      const retries = await Promise.all(Array.from({ length: 4 }, () => jobs.retry(id)));
      trial.equal(retries.filter(Boolean).length, 1, "the number of retries by four callers at once");
      await trial.until("the run of the retried job", () => runs === 3);
      await trial.until("the end of the dead letter", async () => (await dead()) === undefined);
      trial.equal(await jobs.retry(id), false, "the retry of a job that is not dead");
    },
  ],
  [
    "a job whose failure is final is not tried again",
    async (trial) => {
      const job = trial.job<undefined>("final");
      let runs = 0;
      const handler = createHandler(job, () => {
        runs += 1;
        throw new FinalJobError("the address does not exist");
      });
      const jobs = await trial.startJobs([handler]);
      const { id } = await jobs.dispatch(job);
      await trial.until("the death", async () => (await jobs.dead(1000)).some((each) => each.id === id));
      trial.equal(runs, 1, "the number of runs");
    },
  ],
  [
    "a job with an unknown name waits for a process that handles it, and one whose payload the schema refuses has failed",
    async (trial) => {
      const { queue } = trial;
      let runs = 0;
      const name = trial.job("refused").name;
      const stranger = trial.job<undefined>("stranger", { attempts: 1 });
      const handled = new Job(name, acceptOnly("right"), { queue });
      const jobs = await trial.startJobs([createHandler(handled, () => void (runs += 1))]);
      const unknown = await jobs.dispatch(stranger);
      const refused = await jobs.dispatch(new Job<string>(name, undefined, { queue, attempts: 1 }), "wrong");
      const findReason = async (id: string) => (await jobs.dead(1000)).find((each) => each.id === id)?.reason;
      await trial.until("the death", async () => (await findReason(refused.id)) !== undefined);
      await trial.options.pass(2500);
      trial.equal((await findReason(refused.id))?.split(" ")[0], "E_JOB_PAYLOAD", "the code of the refused payload");
      trial.equal((await findReason(unknown.id)) ?? null, null, "the reason of the unknown name");
      trial.equal(runs, 0, "the number of runs");
    },
  ],
  [
    "of two processes one runs each job, and many jobs are dispatched at once",
    async (trial) => {
      const runs = new Map<number, number>();
      const job = trial.job<number>("shared");
      const handler = (): object =>
        createHandler(job, async (number) => {
          runs.set(number, (runs.get(number) ?? 0) + 1);
          await Promise.resolve();
        });
      const jobs = await trial.startJobs([handler()], { concurrency: 4 });
      await trial.startJobs([handler()], { concurrency: 4, prefetch: 8 });
      const results = await jobs.dispatchAll(
        job,
        Array.from({ length: MANY }, (_, number) => number),
      );
      trial.equal(new Set(results.map(({ id }) => id)).size, MANY, "the number of ids");
      await trial.until("the runs", () => runs.size === MANY);
      await trial.options.pass(2500);
      trial.equal(
        [...runs.values()].every((times) => times === 1),
        true,
        "whether each job ran once",
      );
    },
  ],
  [
    "a process that ends lets jobs finish, and returns the others without counting their attempt",
    async (trial) => {
      const attempts: number[] = [];
      const finished: string[] = [];
      const gate = new AbortController();
      const job = trial.job<string>("drained");
      const first = await trial.startJobs([
        createHandler(job, async (payload, { attempt, signal }) => {
          if (payload === "long") {
            attempts.push(attempt);
            await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
          }
          await waitForAbort(gate.signal);
          finished.push(payload);
        }),
      ]);
      await first.dispatch(job, "short");
      await first.dispatch(job, "long");
      await trial.until("the runs", () => attempts.length === 1);
      const ended = trial.stopJobs(first, 500);
      gate.abort();
      await ended;
      trial.equal(finished, ["short"], "the jobs that finished");
      await trial.startJobs([createHandler(job, (_, { attempt }) => void attempts.push(attempt))]);
      await trial.until("the second run", () => attempts.length === 2);
      trial.equal(attempts, [1, 1], "the attempts of the returned job");
    },
  ],
  [
    "a job has the ids of the request that dispatched it",
    async (trial) => {
      const job = trial.job<undefined>("traced");
      const scope = { signal: new AbortController().signal, extensions: undefined } satisfies WorkScope & {
        extensions: undefined;
      };
      const request = RequestId.fresh();
      const trace = TraceContext.root();
      RequestId.set(scope, request);
      TraceContext.set(scope, trace);
      const seen: unknown[] = [];
      const handler = createHandler(job, (_, ctx) => {
        const found = TraceContext.of(ctx);
        seen.push(RequestId.of(ctx)?.value, found?.traceId, found?.continued);
      });
      const jobs = await trial.startJobs([handler]);
      await inWorkScope(scope, () => jobs.dispatch(job), undefined);
      await trial.until("the run", () => seen.length > 0);
      trial.equal(seen, [request.value, trace.traceId, true], "the ids");
    },
  ],
];
