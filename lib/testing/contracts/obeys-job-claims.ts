/** The promises of `obeysQueue` about the steps of a claim: tokens, leases, the death of a worker, ticks. For stores, not for engines. */
import type { JobStore } from "../../jobs/job-store.js";
import { boundsKeys, freesSlots } from "./obeys-concurrency.js";
import type { QueuePromise } from "./obeys-queue-promises.js";
import type { QueueTrial } from "./queue-trial.js";
import { add, claim, DEAD_AFTER_MS, LEASE_MS, createLiveWorker } from "./store-steps.js";

type Proof = (store: JobStore, trial: QueueTrial) => Promise<void>;

export function claimPromises(store: JobStore): readonly QueuePromise[] {
  return PROOFS.map(([promise, prove]) => [promise, (trial) => prove(store, trial)]);
}

const PROOFS: readonly (readonly [promise: string, prove: Proof])[] = [
  ["a step with an old token is refused", refusesOldTokens],
  [
    "a completion after the reaper has taken the job is refused, also before another worker claims it",
    refusesCompletionsAfterReap,
  ],
  [
    "a worker that is silent for half a minute loses its jobs, and a worker with heartbeats keeps them",
    reapsSilentWorkers,
  ],
  ["a job whose worker dies at the last attempt is dead", deadLettersAtLastAttempt],
  ["a job whose worker dies before the last attempt has started is tried again", releasesUnstarted],
  ["no more jobs of a concurrency key are claimed than its limit, and they hold up no other job", boundsKeys],
  ["a slot of a concurrency key is free when its claim has ended in any way", freesSlots],
  ["jobs of a claim whose response was lost are released, and have used no attempt", releasesLostClaims],
  ["a job without a handler waits, and has used no attempt", waitsUnhandled],
  ["a job that fails while a newer one waits with its key makes room for it", makesRoomForNewer],
  ["a waiting job that is replaced moves to the newer queue, and keeps the count of its attempts", movesToNewerQueue],
  ["a tick is recorded once, with its job, and no earlier one after it", recordsTicksOnce],
  ["a tick that was recorded by a clock far ahead does not count after the clock was set back", forgetsTicksAhead],
];

async function refusesOldTokens(store: JobStore, trial: QueueTrial): Promise<void> {
  await add(store, trial);
  const old = await claim(store, trial, `a-${trial.run}`, 1000);
  await trial.options.pass(1100);
  await store.reap(DEAD_AFTER_MS);
  const now = await claim(store, trial, `b-${trial.run}`);
  trial.equal(now.attempt, 2, "the attempt after the lease has ended");
  trial.equal((await store.complete([old])).length, 1, "the refused completions");
  trial.equal((await store.renew([old], LEASE_MS)).length, 1, "the refused renewals");
  trial.equal(await store.fail(old, { reason: "late", retryInMs: 0 }), false, "the failure");
  await store.release([old]);
  trial.equal((await store.renew([now], LEASE_MS)).length, 0, "the refused renewals of the new claim");
  trial.equal((await store.complete([now])).length, 0, "the refused completions of the new claim");
  trial.equal((await store.complete([now])).length, 1, "the refused second completions");
}

async function refusesCompletionsAfterReap(store: JobStore, trial: QueueTrial): Promise<void> {
  await add(store, trial);
  const old = await claim(store, trial, `c-${trial.run}`, 1000);
  await trial.options.pass(1100);
  const reaped = await store.reap(DEAD_AFTER_MS);
  trial.equal(reaped.filter(({ id }) => id === old.id).length, 1, "the number of taken jobs");
  trial.equal((await store.complete([old])).length, 1, "the refused completions");
  await store.complete([await claim(store, trial, `c-${trial.run}`)]);
}

async function reapsSilentWorkers(store: JobStore, trial: QueueTrial): Promise<void> {
  const [silent, living] = [`silent-${trial.run}`, `living-${trial.run}`];
  await add(store, trial);
  await add(store, trial);
  const lost = await claim(store, trial, silent);
  const renewed = await claim(store, trial, living);
  await trial.options.pass(20_000);
  trial.equal((await store.heartbeat(createLiveWorker(living))).isKnown, true, "the heartbeat of a living worker");
  await trial.options.pass(15_000);
  const reaped = (await store.reap(DEAD_AFTER_MS)).filter(({ name }) => name === lost.name);
  trial.equal(
    reaped.map(({ id, isDead }) => ({ id, isDead })),
    [{ id: lost.id, isDead: false }],
    "the taken jobs",
  );
  trial.equal(
    (await store.heartbeat(createLiveWorker(silent))).isKnown,
    false,
    "the heartbeat of the worker that was taken for dead",
  );
  trial.equal((await store.complete([renewed])).length, 0, "the refused completions of the living worker");
  const again = await claim(store, trial, living);
  trial.equal([again.id, again.attempt], [lost.id, 2], "the next claim");
  await store.complete([again]);
  for (const worker of [silent, living]) await store.leave(worker);
}

async function deadLettersAtLastAttempt(store: JobStore, trial: QueueTrial): Promise<void> {
  const id = await add(store, trial, { maxAttempts: 1 });
  const job = await claim(store, trial, `d-${trial.run}`, 1000);
  trial.equal((await store.markStarted([job])).length, 0, "the refused marks");
  await trial.options.pass(1100);
  const reaped = await store.reap(DEAD_AFTER_MS);
  trial.equal(reaped.find((each) => each.id === id)?.isDead, true, "whether it is dead");
  trial.equal(
    (await store.dead(1000)).some((each) => each.id === id),
    true,
    "whether it is a dead letter",
  );
}

async function releasesUnstarted(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `i-${trial.run}`;
  const id = await add(store, trial, { maxAttempts: 1 });
  const lost = await claim(store, trial, worker, 1000);
  await trial.options.pass(1100);
  const reaped = (await store.reap(DEAD_AFTER_MS)).find((each) => each.id === id);
  trial.equal(reaped?.isDead, false, "whether it is dead");
  trial.equal((await store.markStarted([lost])).length, 1, "the refused marks of the claim that has ended");
  const again = await claim(store, trial, worker, 1000);
  trial.equal([again.id, again.attempt], [id, 1], "the next claim");
  await store.markStarted([again]);
  await store.release([again]);
  await claim(store, trial, worker, 1000);
  await trial.options.pass(1100);
  // The mark of an earlier claim does not count.
  trial.equal(
    (await store.reap(DEAD_AFTER_MS)).find((each) => each.id === id)?.isDead,
    false,
    "whether it is dead then",
  );
  await store.complete([await claim(store, trial, worker)]);
}

async function releasesLostClaims(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `f-${trial.run}`;
  await add(store, trial, { maxAttempts: 1 });
  await add(store, trial, { maxAttempts: 1 });
  const lost = await claim(store, trial, worker);
  const claimed = await claim(store, trial, worker);
  trial.equal(await store.releaseUnknown(worker, [claimed]), 1, "the number of released jobs");
  const again = await claim(store, trial, worker);
  trial.equal([again.id, again.attempt], [lost.id, 1], "the next claim");
  trial.equal((await store.complete([claimed, again])).length, 0, "the refused completions");
  trial.equal(await store.releaseUnknown(worker, []), 0, "the number of released jobs after the completions");
}

async function waitsUnhandled(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `g-${trial.run}`;
  const since = await store.now();
  await add(store, trial);
  const first = await claim(store, trial, worker);
  await store.waitUnhandled([first], 30_000);
  const found = (await store.unhandled()).filter(({ name }) => name === first.name);
  trial.equal(
    found.map(({ queue, jobs }) => ({ queue, jobs })),
    [{ queue: trial.queue, jobs: 1 }],
    "the jobs that wait for a handler",
  );
  trial.equal((found[0]?.since ?? 0) >= since, true, "whether it waits since its claim");
  const request = { worker, queues: [trial.queue], limit: 1, leaseMs: LEASE_MS };
  await trial.options.pass(20_000);
  trial.equal((await store.claim(request)).length, 0, "the number of claims within half a minute");
  await trial.options.pass(11_000);
  const next = await claim(store, trial, worker);
  trial.equal([next.id, next.attempt], [first.id, 1], "the claim after it");
  await store.fail(next, { reason: "failed", retryInMs: 0 });
  trial.equal((await store.unhandled()).filter(({ name }) => name === first.name).length, 0, "the names after a run");
  await store.complete([await claim(store, trial, worker)]);
}

async function makesRoomForNewer(store: JobStore, trial: QueueTrial): Promise<void> {
  await add(store, trial, { key: "k", payload: "1" });
  const old = await claim(store, trial, `e-${trial.run}`);
  const newer = await add(store, trial, { key: "k", payload: "2" });
  trial.equal(await store.fail(old, { reason: "x", retryInMs: 0 }), true, "the failure");
  const next = await claim(store, trial, `e-${trial.run}`);
  trial.equal([next.id, next.payload], [newer, "2"], "the next job");
  const left = await store.claim({
    worker: `e-${trial.run}`,
    queues: [trial.queue],
    limit: 9,
    leaseMs: LEASE_MS,
  });
  trial.equal(left.length, 0, "the number of further jobs");
  await store.complete([next]);
}

async function movesToNewerQueue(store: JobStore, trial: QueueTrial): Promise<void> {
  const worker = `f-${trial.run}`;
  const queue = `${trial.queue}-newer`;
  const id = await add(store, trial, { key: "k", payload: "1" });
  await store.fail(await claim(store, trial, worker), { reason: "x", retryInMs: 0 });
  await add(store, trial, { key: "k", payload: "2", queue });
  const left = await store.claim({ worker, queues: [trial.queue], limit: 9, leaseMs: LEASE_MS });
  trial.equal(left.length, 0, "the number of jobs in the older queue");
  const [job] = await store.claim({ worker, queues: [queue], limit: 9, leaseMs: LEASE_MS });
  trial.equal([job?.id, job?.payload, job?.queue, job?.attempt], [id, "2", queue, 2], "the job in the newer queue");
  if (job !== undefined) await store.complete([job]);
}

async function recordsTicksOnce(store: JobStore, trial: QueueTrial): Promise<void> {
  const name = `tick-${trial.run}`;
  const due = trial.options.clock.now();
  const ticks = await Promise.all([1, 2, 3].map(() => store.tick(name, due, undefined)));
  trial.equal(ticks.filter(Boolean).length, 1, "the number of recorded ticks");
  trial.equal(await store.tick(name, due - 60_000, undefined), false, "an earlier tick");
  trial.equal(await store.tick(name, due + 60_000, undefined), true, "a later tick");
  trial.equal(await store.lastTick(name), due + 60_000, "the last tick");
  trial.equal((await store.lastTick(`${name}-other`)) ?? null, null, "the last tick of another schedule");
}

async function forgetsTicksAhead(store: JobStore, trial: QueueTrial): Promise<void> {
  const name = `ahead-${trial.run}`;
  const due = trial.options.clock.now();
  await store.tick(name, due + 7_200_000, undefined);
  trial.equal((await store.lastTick(name)) ?? null, null, "the last tick");
  trial.equal(await store.tick(name, due, undefined), true, "the tick by the clock that was set back");
  trial.equal(await store.tick(name, due, undefined), false, "the same tick again");
  trial.equal(await store.lastTick(name), due, "the last tick after it");
}
