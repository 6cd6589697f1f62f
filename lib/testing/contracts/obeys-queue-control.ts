/** The promises of `obeysQueue` about the work of a queue's operators. They apply to every store and engine. */
import { FrameworkError } from "../../errors/framework-error.js";
import { isBefore, waitForAbort, type QueuePromise } from "./obeys-queue-promises.js";
import { createHandler } from "./queue-trial.js";

export const controlPromises: readonly QueuePromise[] = [
  [
    "a job with its own back-off waits as long as the back-off says",
    async (trial) => {
      const failures: number[] = [];
      const waits: unknown[] = [];
      const backoff = (attempt: number, error: unknown): number => {
        waits.push([attempt, error instanceof Error && error.message]);
        return 3000;
      };
      const job = trial.job<undefined>("backing-off", { backoff });
      const handler = createHandler(job, (_, { attempt }) => {
        failures.push(trial.options.clock.monotonic());
        if (attempt === 1) throw new Error("not yet");
      });
      const jobs = await trial.startJobs([handler]);
      await jobs.dispatch(job);
      await trial.until("the first run", () => failures.length > 0);
      await trial.options.pass(2000);
      if (isBefore(trial, failures[0] ?? 0, 3000))
        trial.equal(failures.length, 1, "the number of runs before the wait");
      await trial.until("the second run", () => failures.length === 2);
      trial.equal(waits, [[1, "not yet"]], "what the back-off got");
    },
  ],
  [
    "a queue lists its jobs without their payloads, and shows one of them with its payload",
    async (trial) => {
      const gate = new AbortController();
      const job = trial.job<string>("listed", { attempts: 1 });
      const jobs = await trial.startJobs(
        [
          createHandler(job, (payload) => {
            if (payload === "dies") throw new Error("no");
            return payload === "runs" ? waitForAbort(gate.signal) : undefined;
          }),
        ],
        { concurrency: 1 },
      );
      const dead = await jobs.dispatch(job, "dies");
      await trial.until("the death", async () => (await jobs.list({ queue: trial.queue, state: "dead" })).length === 1);
      const running = await jobs.dispatch(job, "runs");
      const isRunning = async () => (await jobs.list({ queue: trial.queue, state: "running" })).length === 1;
      await trial.until("the run", isRunning);
      const waiting = await jobs.dispatch(job, "waits", { delay: 60_000 });
      const listed = await jobs.list({ queue: trial.queue });
      trial.equal(
        listed.map(({ id, state, attempt, maxAttempts }) => ({ id, state, attempt, maxAttempts })),
        [
          { id: running.id, state: "running", attempt: 1, maxAttempts: 1 },
          { id: waiting.id, state: "waiting", attempt: 0, maxAttempts: 1 },
          { id: dead.id, state: "dead", attempt: 1, maxAttempts: 1 },
        ],
        "the list",
      );
      trial.equal(
        listed.some((each) => "payload" in each),
        false,
        "whether the list has payloads",
      );
      const shown = await Promise.all([waiting, running, dead].map(({ id }) => jobs.show(id)));
      trial.equal(
        shown.map((each) => [each?.state, each?.payload, each?.name]),
        [
          ["waiting", '"waits"', job.name],
          ["running", '"runs"', job.name],
          ["dead", '"dies"', job.name],
        ],
        "the jobs that are shown",
      );
      trial.equal((await jobs.list({ queue: trial.queue, name: "other" })).length, 0, "the jobs of another name");
      trial.equal((await jobs.list({ queue: trial.queue, name: job.name, limit: 2 })).length, 2, "a list with a limit");
      trial.equal((await jobs.show("none")) ?? null, null, "a job that does not exist");
      gate.abort();
      await jobs.cancel(waiting.id);
    },
  ],
  [
    "the queues are listed with the numbers of their jobs, the one whose job has waited longest first",
    async (trial) => {
      const gate = new AbortController();
      const late = `${trial.queue}-late`;
      const job = trial.job<string>("summarized", { attempts: 1 });
      const handler = createHandler(job, (payload) => {
        if (payload === "dies") throw new Error("no");
        return payload === "runs" ? waitForAbort(gate.signal) : undefined;
      });
      const jobs = await trial.startJobs([handler]);
      const read = async () => (await jobs.queues()).filter(({ queue }) => [late, trial.queue].includes(queue));
      const isCounted = (state: "running" | "dead") => async () => (await read())[0]?.[state] === 1;
      trial.equal(await read(), [], "the queues before the first job");
      await jobs.dispatch(job, "dies");
      await trial.until("the death", isCounted("dead"));
      trial.equal((await read())[0]?.oldestDueAt ?? null, null, "the time of a queue in which no job waits");
      await jobs.dispatch(job, "runs");
      await trial.until("the run", isCounted("running"));
      const before = await jobs.operated.store.now();
      const delayed = await jobs.dispatch(job, "waits", { delay: 60_000 });
      const other = await jobs.dispatch(job, "waits", { queue: late, delay: 90_000 });
      const first = await jobs.dispatch(job, "waits", { queue: late, delay: 30_000, priority: 1 });
      await jobs.pause(late, { by: "ada" });
      const found = await read();
      const counts = found.map(({ queue, waiting, running, dead }) => ({ queue, waiting, running, dead }));
      const expected = [
        { queue: late, waiting: 2, running: 0, dead: 0 },
        { queue: trial.queue, waiting: 1, running: 1, dead: 1 },
      ];
      trial.equal(counts, expected, "the queues");
      const waits = found.map(({ oldestDueAt = 0 }) => Math.round((oldestDueAt - before) / 30_000));
      trial.equal(waits, [1, 2], "the half minutes until their first jobs are due");
      await jobs.resume(late);
      await Promise.all([delayed, other, first].map(({ id }) => jobs.cancel(id)));
      gate.abort();
    },
  ],
  [
    "a living worker tells its jobs and queues, where the store knows them",
    async (trial) => {
      const job = trial.job<undefined>("told");
      const jobs = await trial.startJobs([createHandler(job, () => {})]);
      const { admin } = jobs.operated.store;
      const read = async () => (await admin.workers())?.filter(({ queues }) => queues?.includes(trial.queue));
      if ((await read()) === undefined) return;
      await trial.until("the first heartbeat", async () => (await read())?.length === 1);
      trial.equal(await read(), [{ names: [job.name], queues: [trial.queue] }], "the worker");
      await trial.stopJobs(jobs);
      const other = await trial.dispatcher();
      const left = await other.operated.store.admin.workers();
      trial.equal(
        left?.some(({ queues }) => queues?.includes(trial.queue)),
        false,
        "whether a stopped worker is listed",
      );
    },
  ],
  [
    "a waiting job that is cancelled does not run",
    async (trial) => {
      let runs = 0;
      const job = trial.job<undefined>("removed");
      const jobs = await trial.startJobs([createHandler(job, () => void (runs += 1))]);
      const { id } = await jobs.dispatch(job, undefined, { delay: 2000, key: "k" });
      trial.equal(await jobs.cancel(id), "removed", "the first cancellation");
      trial.equal(await jobs.cancel(id), "gone", "the second cancellation");
      await trial.options.pass(3500);
      trial.equal(runs, 0, "the number of runs");
      const next = await jobs.dispatch(job, undefined, { key: "k" });
      trial.equal(next.outcome, "created", "the next job with its key");
      await trial.until("the run of the next job", () => runs === 1);
    },
  ],
  [
    "a running job that is cancelled ends by its signal, here and in another process, and is not tried again",
    async (trial) => {
      const reasons: unknown[] = [];
      let runs = 0;
      const job = trial.job<undefined>("cancelled", { timeoutMs: 3_600_000 });
      const worker = await trial.startJobs([
        createHandler(job, async (_, { signal }) => {
          runs += 1;
          await waitForAbort(signal);
          reasons.push(signal.reason instanceof FrameworkError && signal.reason.code);
          throw signal.reason;
        }),
      ]);
      const other = await trial.dispatcher();
      for (const from of [worker, other]) {
        const { id } = await worker.dispatch(job);
        const before = reasons.length;
        await trial.until(
          "the run",
          async () => (await worker.list({ queue: trial.queue, state: "running" })).length > 0,
        );
        await trial.until("the start", () => runs > before);
        trial.equal(await from.cancel(id), "asked", "the cancellation");
        await trial.until("the end of the run", () => reasons.length > before);
        await trial.until("the end of the job", async () => (await worker.show(id)) === undefined);
      }
      await trial.options.pass(2500);
      trial.equal(reasons, ["E_JOB_CANCELLED", "E_JOB_CANCELLED"], "the reasons of the signals");
      trial.equal(runs, 2, "the number of runs");
      trial.equal((await worker.list({ queue: trial.queue })).length, 0, "the jobs that are left");
    },
  ],
  [
    "no job of a paused queue runs until the queue is resumed",
    async (trial) => {
      const seen: string[] = [];
      const job = trial.job<string>("paused");
      const jobs = await trial.startJobs([createHandler(job, (payload) => void seen.push(payload))]);
      trial.equal(await jobs.pause(trial.queue, { by: "ada" }), true, "the pause");
      trial.equal(await jobs.pause(trial.queue, { by: "bob" }), false, "the second pause");
      const [pause] = (await jobs.paused()).filter(({ queue }) => queue === trial.queue);
      trial.equal([pause?.by, typeof pause?.since], ["ada", "number"], "who paused it, and when");
      await jobs.dispatch(job, "late");
      await trial.options.pass(3500);
      trial.equal(seen, [], "the runs while it is paused");
      trial.equal(await jobs.resume(trial.queue), true, "the end of the pause");
      trial.equal(await jobs.resume(trial.queue), false, "the second end");
      await trial.until("the run", () => seen.length === 1);
    },
  ],
  [
    "dead letters are removed by their age and by their number, the oldest first",
    async (trial) => {
      const job = trial.job<number>("purged", { attempts: 1 });
      const jobs = await trial.startJobs([
        createHandler(job, () => {
          throw new Error("no");
        }),
      ]);
      const dead = async () => (await jobs.list({ queue: trial.queue, state: "dead" })).map(({ id }) => id);
      const ids: string[] = [];
      for (let each = 0; each < 3; each++) {
        ids.unshift((await jobs.dispatch(job, each)).id);
        await trial.until("the death", async () => (await dead()).length === ids.length);
        await trial.options.pass(100);
      }
      trial.equal(await dead(), ids, "the dead letters, the latest first");
      await jobs.purge({ olderThanMs: 3_600_000 });
      trial.equal((await dead()).length, 3, "the number of dead letters that are younger");
      await jobs.purge({ keep: 2 });
      trial.equal(await dead(), ids.slice(0, 2), "the dead letters that remain");
      await trial.options.pass(100);
      trial.equal((await jobs.purge({ olderThanMs: 0 })) >= 2, true, "whether all older ones are removed");
      trial.equal(await dead(), [], "the dead letters that are left");
    },
  ],
];
