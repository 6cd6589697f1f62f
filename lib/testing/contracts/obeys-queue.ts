/**
 * The contract of every store of jobs, as a suite of promises: how jobs are dispatched, run, retried, moved to the dead letters, and
 * drained. Each promise uses another queue, so one store serves all of them.
 *
 * @example
 * it("obeys the contract of a queue", () => {
 *   const clock = new FakeClock();
 *   const store = new MemoryJobs({ clock });
 *   return obeysQueue((options) => new Jobs({ ...options, store }), { clock, store, pass: (ms) => clock.advanceAsync(ms) });
 * });
 */
import { checkPromises } from "./contract.js";
import { claimPromises } from "./obeys-job-claims.js";
import { keyPromises } from "./obeys-job-keys.js";
import { controlPromises } from "./obeys-queue-control.js";
import { queuePromises } from "./obeys-queue-promises.js";
import { type MakeJobs, type QueueContractOptions, QueueTrial } from "./queue-trial.js";

/** @throws AssertionError with every promise that the store breaks */
export async function obeysQueue(make: MakeJobs, options: QueueContractOptions): Promise<void> {
  const { store } = options;
  const promises = [
    ...queuePromises,
    ...keyPromises,
    ...controlPromises,
    ...(store === undefined ? [] : claimPromises(store)),
  ];
  await checkPromises("the store does not obey the contract of a queue", promises, async (keeps, { index, equal }) => {
    const trial = new QueueTrial(index, make, options, equal);
    try {
      await keeps(trial);
    } catch (error) {
      await trial.stopAll().catch(() => {});
      throw error;
    }
    await trial.stopAll();
  });
}
