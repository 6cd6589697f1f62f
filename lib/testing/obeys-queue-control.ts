/** The promises of `obeysQueue` about what the operators of a queue do: they hold for every store and engine. */
import { isBefore, type QueuePromise } from "./obeys-queue-promises.js";
import { handlerOf } from "./queue-trial.js";

export const controlPromises: readonly QueuePromise[] = [
  [
    "a job with a back-off of its own waits as long as that says",
    async (trial) => {
      const failures: number[] = [];
      const waits: unknown[] = [];
      const backoff = (attempt: number, error: unknown): number => {
        waits.push([attempt, error instanceof Error && error.message]);
        return 3000;
      };
      const job = trial.job<undefined>("patient", { backoff });
      const handler = handlerOf(job, (_, { attempt }) => {
        failures.push(trial.options.clock.monotonic());
        if (attempt === 1) throw new Error("not yet");
      });
      const jobs = await trial.begin([handler]);
      await jobs.dispatch(job);
      await trial.until("the first run", () => failures.length > 0);
      await trial.options.pass(2000);
      if (isBefore(trial, failures[0] ?? 0, 3000))
        trial.equal(failures.length, 1, "the number of runs before the wait");
      await trial.until("the second run", () => failures.length === 2);
      trial.equal(waits, [[1, "not yet"]], "what the back-off got");
    },
  ],
];
