/** The promises of `obeysQueue` about concurrency keys. For stores, not for engines. */
import type { ClaimedJob, JobStore } from "../../jobs/job-store.js";
import type { QueueTrial } from "./queue-trial.js";
import { add, claimAll, DEAD_AFTER_MS } from "./store-steps.js";

const BOUNDED = { concurrency: { key: "tenant", limit: 2 } };

export async function boundsKeys(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `j-${trial.run}`;
  const ids: string[] = [];
  for (const priority of [3, 1, 1, 2, 1]) ids.push(await add(store, trial, { ...BOUNDED, priority }));
  const other = await add(store, trial, { priority: 50, concurrency: { key: "other", limit: 1 } });
  const plain = await add(store, trial, { priority: 99 });
  const first = await claimAll(store, trial, worker);
  trial.equal(
    first.map(({ id }) => id),
    [ids[1], ids[2], other, plain],
    "the first claim",
  );
  trial.equal((await claimAll(store, trial, `${worker}-2`)).length, 0, "the number of jobs that another worker claims");
  const seen: string[] = [];
  for (let running = first; running.length > 0;) {
    trial.equal(running.filter(({ concurrency }) => concurrency?.limit === 2).length <= 2, true, "the jobs at once");
    const [next, ...rest] = running;
    if (next === undefined) return;
    seen.push(next.id);
    await store.complete([next]);
    running = [...rest, ...(await claimAll(store, trial, worker))];
  }
  const expected = [ids[1], ids[2], other, plain, ids[4], ids[3], ids[0]];
  trial.equal(seen, expected, "the order of all claims");
}

export async function freesSlots(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `k-${trial.run}`;
  const bounded = { concurrency: { key: "tenant", limit: 1 }, maxAttempts: 9 };
  for (let each = 0; each < 5; each++) await add(store, trial, bounded);
  const ends: readonly ((job: ClaimedJob) => Promise<unknown>)[] = [
    (job) => store.complete([job]),
    (job) => store.fail(job, { reason: "x", retryInMs: 3_600_000 }),
    (job) => store.fail(job, { reason: "x", retryInMs: undefined }),
    (job) => store.release([job]),
    (job) => store.waitUnhandled([job], 3_600_000),
    () => store.releaseUnknown(worker, []),
    async () => {
      await trial.options.pass(1100);
      await store.reap(DEAD_AFTER_MS);
    },
    (job) => store.complete([job]),
  ];
  for (const [number, end] of ends.entries()) {
    const jobs = await claimAll(store, trial, worker, 1000);
    trial.equal(jobs.length, 1, `the number of jobs of claim ${number + 1}`);
    for (const job of jobs) await end(job);
  }
}
