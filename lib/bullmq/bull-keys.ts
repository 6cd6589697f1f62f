/**
 * Keys over BullMQ's `deduplication`, which knows one rule: a job with the id exists until it has finished. For the default rule of the
 * framework a waiting job is changed, and a running one gives the id up to its successor.
 */
import type { JobsOptions as BullJobOptions, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Dispatched, NewJob } from "../jobs/job-store.js";
import { FrameworkError } from "../errors/framework-error.js";
import { type BullData, bullData, deduplicationId } from "./bull-record.js";

const TRIES = 10;

/** Takes the id from a job that has it still: another dispatch may have given it to its successor meanwhile. */
const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

export interface KeyPlace {
  readonly queue: Queue<BullData>;
  readonly redis: Pick<Redis, "call">;
}

export async function addKeyed(place: KeyPlace, job: NewJob, options: BullJobOptions): Promise<Dispatched> {
  const { queue, redis } = place;
  const id = deduplicationId(job.name, job.key ?? "");
  const data = bullData(job);
  for (let left = TRIES; left > 0; left--) {
    const added = await queue.add(job.name, data, options);
    const known = added.id ?? job.id;
    if (known === job.id) return { outcome: "created", id: known };
    if (job.unique === "until-done") return { outcome: "kept", id: known };
    if (await replace(queue, known, job, data)) return { outcome: "replaced", id: known };
    // It runs, or has ended: the change that this job stands for must not be missed.
    await redis.call("EVAL", RELEASE, 1, queue.toKey(`de:${id}`), known);
  }
  throw new FrameworkError(`jobs of ${job.name} with one key come and go too fast to add one`, { code: "E_JOB_KEY" });
}

/** False if the job waits no longer. */
async function replace(queue: Queue<BullData>, id: string, job: NewJob, data: BullData): Promise<boolean> {
  const other = await queue.getJob(id);
  if (other === undefined || !isWaiting(await other.getState())) return false;
  await other.updateData({ ...data, o: other.data.o });
  const due = other.timestamp + other.delay;
  if ((await other.isDelayed()) && Date.now() + job.delayMs < due) await hasten(other, job.delayMs);
  // A worker may have taken it with the old data.
  return isWaiting(await other.getState());
}

async function hasten(
  other: { promote(): Promise<void>; changeDelay(delay: number): Promise<void> },
  delayMs: number,
): Promise<void> {
  await (delayMs === 0 ? other.promote() : other.changeDelay(delayMs));
}

function isWaiting(state: string): boolean {
  return state === "waiting" || state === "delayed" || state === "prioritized";
}
