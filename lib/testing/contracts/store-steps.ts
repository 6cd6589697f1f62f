/** Steps of a worker at a `JobStore`, for the promises of `obeysQueue`. */
import { JobIds } from "../../jobs/job-id.js";
import type { ClaimedJob, JobStore, LiveWorker, NewJob } from "../../jobs/job-store.js";
import type { QueueTrial } from "./queue-trial.js";

export const LEASE_MS = 300_000;
export const DEAD_AFTER_MS = 30_000;
const ids = new JobIds();

export async function add(store: JobStore, trial: QueueTrial, change: Partial<NewJob> = {}): Promise<string> {
  const id = ids.next(trial.options.clock.now());
  const [dispatched] = await store.add([{ ...createJob(id, trial), ...change }]);
  return dispatched?.id ?? "";
}

function createJob(id: string, { run, queue }: QueueTrial): NewJob {
  return {
    id,
    name: `claimed-${run}`,
    queue,
    priority: 0,
    payload: "null",
    delayMs: 0,
    maxAttempts: 2,
    key: undefined,
    unique: "waiting",
    requestId: undefined,
    traceparent: undefined,
    tracestate: undefined,
  };
}

export function createLiveWorker(id: string): LiveWorker {
  return { id, names: [], queues: undefined };
}

export async function claimAll(
  store: JobStore,
  trial: QueueTrial,
  worker: string,
  leaseMs = LEASE_MS,
): Promise<readonly ClaimedJob[]> {
  await store.heartbeat(createLiveWorker(worker));
  return store.claim({ worker, queues: [trial.queue], limit: 9, leaseMs });
}

export async function claim(
  store: JobStore,
  trial: QueueTrial,
  worker: string,
  leaseMs = LEASE_MS,
): Promise<ClaimedJob> {
  await store.heartbeat(createLiveWorker(worker));
  const [job] = await store.claim({ worker, queues: [trial.queue], limit: 1, leaseMs });
  if (job === undefined) throw new Error("there is no job to claim");
  return job;
}
