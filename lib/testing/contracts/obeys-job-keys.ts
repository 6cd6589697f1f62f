/** The promises of `obeysQueue` about jobs with a key: replacement, uniqueness and successors. They apply to every store and engine. */
import { waitForAbort, type QueuePromise } from "./obeys-queue-promises.js";
import { createHandler } from "./queue-trial.js";

export const keyPromises: readonly QueuePromise[] = [
  [
    "a waiting job with a key takes the newer payload and the earlier time",
    async (trial) => {
      const seen: string[] = [];
      const job = trial.job<string>("keyed");
      const dispatcher = await trial.dispatcher();
      const first = await dispatcher.dispatch(job, "old", { key: "k", delay: 3_600_000 });
      const second = await dispatcher.dispatch(job, "new", { key: "k" });
      const third = await dispatcher.dispatch(job, "other", { key: "other" });
      trial.equal([first.outcome, second.outcome, third.outcome], ["created", "replaced", "created"], "the outcomes");
      trial.equal(second.id, first.id, "the id of the replaced job");
      await trial.startJobs([createHandler(job, (payload) => void seen.push(payload))]);
      await trial.until("the runs", () => seen.length === 2);
      await trial.options.pass(2500);
      trial.equal(
        seen.toSorted((one, other) => (one < other ? -1 : 1)),
        ["new", "other"],
        "the payloads",
      );
    },
  ],
  [
    "a waiting job with a key takes the newer attempts and the newer priority",
    async (trial) => {
      const seen: unknown[] = [];
      const [old, other] = [trial.job<string>("raised", { attempts: 1, priority: 100 }), trial.job<string>("other")];
      const newer = trial.job<string>("raised", { attempts: 3, priority: 1 });
      const dispatcher = await trial.dispatcher();
      await dispatcher.dispatch(old, "old", { key: "k" });
      await dispatcher.dispatch(other, "other", { priority: 50 });
      await dispatcher.dispatch(newer, "new", { key: "k" });
      const run = (payload: string, { maxAttempts }: { maxAttempts: number }): void =>
        void seen.push(`${payload} of ${maxAttempts}`);
      await trial.startJobs([createHandler(newer, run), createHandler(other, run)], { concurrency: 1 });
      await trial.until("the runs", () => seen.length === 2);
      trial.equal(seen, ["new of 3", "other of 20"], "the payloads and attempts in their order");
    },
  ],
  [
    "a running job with a key gets a successor, and keeps the job that is unique until it is done",
    async (trial) => {
      const seen: string[] = [];
      const gate = new AbortController();
      const job = trial.job<string>("successor");
      const handler = createHandler(job, (payload) => {
        seen.push(payload);
        return payload === "first" ? waitForAbort(gate.signal) : undefined;
      });
      const jobs = await trial.startJobs([handler]);
      await jobs.dispatch(job, "first", { key: "k", unique: "until-done" });
      await trial.until("the first run", () => seen.length === 1);
      const existing = await jobs.dispatch(job, "kept", { key: "k", unique: "until-done" });
      const next = await jobs.dispatch(job, "second", { key: "k" });
      trial.equal([existing.outcome, next.outcome], ["kept", "created"], "the outcomes");
      gate.abort();
      await trial.until("the second run", () => seen.length === 2);
      trial.equal(seen, ["first", "second"], "the payloads");
    },
  ],
];
